package iam_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHowManyClustersFit(t *testing.T) {
	id := func(region, suffix string, n int) string {
		return fmt.Sprintf("oidc.eks.%s.amazonaws.com%s/id/%032X", region, suffix, n)
	}
	for _, c := range []struct {
		region, suffix string
		partition      iam.Partition
		two, one       int
		fits           map[int]int
	}{
		{"us-east-1", "", iam.AWS, 493, 446, map[int]int{2048: 4, 4096: 8, 8192: 16}},
		{"cn-northwest-1", ".cn", iam.China, 520, 473, map[int]int{2048: 3, 4096: 7, 8192: 15}},
	} {
		trust := func(n int, subjects ...iam.Subject) iam.TrustPolicy {
			return iam.NewTrustPolicy().AllowingAnyNamespace().
				WithServiceAccounts(iam.NewOIDCProvider(c.partition, account, "https://"+id(c.region, c.suffix, n)), subjects...)
		}
		both := []iam.Subject{iam.ServiceAccount("flyte", "flytepropeller"), iam.ServiceAccountPattern("*", "default")}
		empty := parse(t, `{"Version":"2012-10-17","Statement":[]}`)
		size := func(trust iam.TrustPolicy) int { return merge(t, empty, trust).Document.Size() - empty.Size() }
		assert.Equal(t, c.two, size(trust(0, both...)), "%s: propeller and user code", c.region)
		assert.Equal(t, c.one, size(trust(0, both[1])), "%s: user code alone", c.region)
		for limit, want := range c.fits {
			d, n := merge(t, empty, trust(0, both...)).Document, 1
			foretold := d.Budget(limit).Fits
			for {
				next := merge(t, d, trust(n, both...)).Document
				if next.CheckLength("trust policy", limit) != nil {
					break
				}
				d, n = next, n+1
			}
			assert.Equal(t, want, n, "%s: clusters in %d characters", c.region, limit)
			assert.Equal(t, want, foretold+1, "%s: and so it was foretold", c.region)
		}
	}
}

func TestADocumentThatIsTooLong(t *testing.T) {
	d := iam.Document{}
	for i := range 5 {
		d = merge(t, d, dataPlane(fmt.Sprintf("oidc.eks.us-east-1.amazonaws.com/id/%032d", i))).Document
	}
	err := d.CheckLength("trust policy of role flyte-dataplanes", iam.DefaultTrustPolicyLimit)
	tooLong, ok := errors.AsType[*iam.TooLongError](err)
	require.True(t, ok)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorIs(t, err, planewright.ErrQuota)
	assert.Equal(t, iam.Budget{Used: 2508, Limit: 2048, PerCluster: 494}, tooLong.Budget)
	require.ErrorContains(t, err, "trust policy of role flyte-dataplanes has 2508 characters, 460 more than the 2048 that the account allows; a cluster takes 494, so 0 more fit. Ways out: EKS Pod Identity")
	assert.NoError(t, d.CheckLength("", 4096))
}
