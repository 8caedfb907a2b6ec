package cloudtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright/cloud/cloudtest"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/require"
)

func TestContractOnAWSInMemory(t *testing.T) {
	cloudtest.Run(t, func(*testing.T) cloudtest.Fixture {
		aws := eksfake.New("123456789012", "us-east-1", "main")
		aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
		const theirs = `{"Sid":"Theirs","Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`
		return cloudtest.Fixture{
			Account: aws.Account(), Cluster: "main", Bucket: "acme-flyte",
			Writes: func() int { return len(aws.Writes()) },
			May: func(t *testing.T, identity, namespace, name string) bool {
				t.Helper()
				role, _ := aws.Role(identity)
				document, err := iam.ParseDocument(role.Trust)
				require.NoError(t, err)
				return iam.Evaluate(document, iam.WebIdentityRequest(iam.NewOIDCProvider(iam.AWS, "123456789012", aws.Issuer("main")), iam.ServiceAccount(namespace, name))).Allowed
			},
			Meddle: func(_ *testing.T, identity string) {
				role, _ := aws.Role(identity)
				role.Trust = strings.Replace(role.Trust, `"Statement":[`, `"Statement":[`+theirs+",", 1)
				aws.PutRole(role)
			},
			Meddled: func(_ *testing.T, identity string) bool {
				role, _ := aws.Role(identity)
				return strings.Contains(role.Trust, theirs)
			},
			Deny: func() { aws.Fail(eksfake.Call("*"), eksfake.Denied) },
		}
	})
}

func TestContractOnGoogleInMemory(t *testing.T) {
	cloudtest.Run(t, func(*testing.T) cloudtest.Fixture {
		google := gkefake.New("acme-ml", "europe-west4", "main")
		google.PutBucket(gkefake.Bucket{Name: "acme-flyte"})
		has := func(identity, member string) bool {
			for _, b := range google.Bindings(identity) {
				if slices.Contains(b.GetMembers(), member) {
					return true
				}
			}
			return false
		}
		return cloudtest.Fixture{
			Account: google.Account(), Cluster: "main", Bucket: "acme-flyte",
			Writes: func() int { return len(google.Writes()) },
			May: func(_ *testing.T, identity, namespace, name string) bool {
				return has(identity, fmt.Sprintf("serviceAccount:acme-ml.svc.id.goog[%s/%s]", namespace, name))
			},
			Meddle: func(_ *testing.T, identity string) {
				google.AddMember(identity, "roles/iam.workloadIdentityUser", "serviceAccount:acme-ml.svc.id.goog[meddler/default]")
			},
			Meddled: func(_ *testing.T, identity string) bool {
				return has(identity, "serviceAccount:acme-ml.svc.id.goog[meddler/default]")
			},
			Deny: func() { google.Fail(gkefake.Call("*"), gkefake.Denied) },
		}
	})
}
