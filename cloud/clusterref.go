package cloud

import (
	"context"
	"errors"
	"time"

	"github.com/planewright/planewright"
)

// ClusterRef refers to a cluster where it is.
type ClusterRef struct {
	Account Account
	// Name is the cluster's name in the cloud.
	Name string
	// Needs are the steps that make the cluster, if the same install does.
	Needs []string
}

// MadeBy says that the same install makes the cluster: what is done with it
// waits for the provision's steps.
func (r ClusterRef) MadeBy(provision ClusterProvision) ClusterRef {
	r.Needs = nil
	for _, step := range provision.Steps {
		r.Needs = append(r.Needs, step.ID)
	}
	return r
}

// Describe returns the cluster. One that the same install makes and that is
// not ready yet is a [*planewright.UnknownError]: in a plan, what needs it is
// unknown, and not wrong.
func (r ClusterRef) Describe(ctx context.Context) (Cluster, error) {
	c, err := r.Account.Clusters.Describe(ctx, r.Name)
	switch {
	case len(r.Needs) == 0:
	case errors.Is(err, planewright.ErrNotFound), err == nil && c.Status == ClusterCreating:
		return Cluster{}, r.unknown()
	}
	return c, err
}

// Access returns how the cluster's API is reached, by credentials made of
// those for the cloud. It errs as Describe does.
func (r ClusterRef) Access(ctx context.Context) (Access, error) {
	if len(r.Needs) > 0 {
		if _, err := r.Describe(ctx); err != nil {
			return Access{}, err
		}
	}
	return r.Account.Clusters.Access(ctx, r.Name)
}

func (r ClusterRef) unknown() error {
	return &planewright.UnknownError{Step: r.Needs[len(r.Needs)-1], Output: "cluster"}
}

// Token returns a bearer token for the cluster's API and when it ends: what
// kube/live asks for, so that a cluster is reached with nothing but the
// credentials for its cloud.
//
//	access, err := ref.Access(ctx)
//	cluster, err := live.FromTokens("main", access.Endpoint, access.CA, ref.Token)
func (r ClusterRef) Token(ctx context.Context) (planewright.Secret, time.Time, error) {
	access, err := r.Account.Clusters.Access(ctx, r.Name)
	return access.Token, access.Expires, err
}
