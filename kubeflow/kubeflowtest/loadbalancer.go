package kubeflowtest

// loadBalancers gives Services addresses where no cloud does. In memory the
// fleet does so itself.
func (r *round) loadBalancers() {
	if r.places[r.cluster].instant() {
		return
	}
	for _, s := range r.all("", "Service") {
		if textAt(s.Object, "spec", "type") != "LoadBalancer" || s.GetDeletionTimestamp() != nil {
			continue
		}
		name := s.GetName() + "." + s.GetNamespace() + "." + r.cluster + ".example"
		r.setStatus(s, map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"hostname": name}}}})
	}
}
