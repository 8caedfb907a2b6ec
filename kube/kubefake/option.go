package kubefake

// ClusterOption says what one cluster is like.
type ClusterOption func(*cluster)

func (c *cluster) configure(opts []ClusterOption) {
	for _, o := range opts {
		o(c)
	}
}
