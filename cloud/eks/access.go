package eks

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

const (
	tokenPrefix = "k8s-aws-v1."
	// tokenLife is how long a cluster takes a token, whatever it says of itself.
	// https://github.com/kubernetes-sigs/aws-iam-authenticator
	tokenLife = 15 * time.Minute
	// tokenSpare is taken off for clocks that differ.
	tokenSpare = time.Minute
)

// Access implements [cloud.Clusters]: the token is a signed question to STS of
// who we are, which the cluster asks for us. It is never logged.
func (c *clusters) Access(ctx context.Context, name string) (cloud.Access, error) {
	cluster, err := c.Describe(ctx, name)
	if err != nil {
		return cloud.Access{}, err
	}
	if cluster.Endpoint == "" || len(cluster.CA) == 0 {
		return cloud.Access{}, fmt.Errorf("cluster %s has no endpoint yet: it is %s: %w", name, cluster.StatusReason, planewright.ErrUnavailable)
	}
	if c.Signer == nil {
		return cloud.Access{}, fmt.Errorf("cluster %s: the account has nothing to sign tokens with: %w", name, planewright.ErrUnsupported)
	}
	url, err := c.Signer.PresignIdentity(ctx, name)
	if err != nil {
		return cloud.Access{}, failure("sts:GetCallerIdentity", clusterObject(name), err)
	}
	return cloud.Access{
		Endpoint: cluster.Endpoint, CA: cluster.CA,
		Token:   planewright.SecretValue(tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(url))),
		Expires: time.Now().Add(tokenLife - tokenSpare),
	}, nil
}
