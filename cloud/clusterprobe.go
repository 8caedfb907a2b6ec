package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// ProbeCluster asks the cloud whether a cluster can be used, and from where its
// API is reached: a private endpoint is the usual reason why it does not answer.
// A cluster that the same stack makes ([ClusterRef.Needs]) need not be there.
func ProbeCluster(id string, ref ClusterRef) planewright.Probe {
	return planewright.Probe{ID: id, Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		object := planewright.Object{APIVersion: string(ref.Account.Provider), Kind: "Cluster", Name: ref.Name}
		finding := func(severity planewright.Severity, code, cause, fix string) ([]planewright.Finding, error) {
			return []planewright.Finding{{Severity: severity, Code: code, Object: &object, Cause: cause, Fix: fix}}, nil
		}
		c, err := ref.Account.Clusters.Describe(ctx, ref.Name)
		switch {
		case errors.Is(err, planewright.ErrNotFound) && len(ref.Needs) > 0:
			return nil, nil
		case errors.Is(err, planewright.ErrNotFound):
			return finding(planewright.SeverityError, CodeCluster, "there is no such cluster in "+ref.Account.String(), "check its name and its region")
		case errors.Is(err, planewright.ErrDenied), errors.Is(err, planewright.ErrUnsupported):
			return finding(planewright.SeverityUnprobed, CodeCluster, "it may not be looked at: "+err.Error(), "")
		case err != nil:
			return nil, err
		}
		switch {
		case c.Status == ClusterDegraded:
			return finding(planewright.SeverityWarning, CodeCluster, "it is "+c.StatusReason, "see to that first")
		case c.Status != ClusterReady && len(ref.Needs) == 0:
			return finding(planewright.SeverityError, CodeCluster, "it is "+c.StatusReason, "wait until it is active, or use another")
		case c.Status == ClusterReady && !c.PublicEndpoint:
			return finding(planewright.SeverityInfo, CodePrivateEndpoint, "its API is reached from inside its network only; from elsewhere it times out", "run this inside the network, or through a tunnel")
		case len(c.PublicCIDRs) > 0 && !everywhere(c.PublicCIDRs):
			return finding(planewright.SeverityInfo, CodePrivateEndpoint, fmt.Sprintf("its API is reached from %s only", strings.Join(c.PublicCIDRs, ", ")), "")
		}
		return nil, nil
	}}
}

func everywhere(cidrs []string) bool { return slices.Contains(cidrs, "0.0.0.0/0") }
