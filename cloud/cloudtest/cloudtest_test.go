package cloudtest_test

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/cloudtest"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
)

func TestContractOnAWSInMemory(t *testing.T) {
	cloudtest.Run(t, func(*testing.T) cloudtest.Fixture {
		aws := newAWS()
		return onAWS(aws, aws.Account())
	})
}

// The SDK's own clients talk HTTP to the fake.
func TestContractOnAWSOverTheWire(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T) cloudtest.Fixture {
		t.Helper()
		aws := newAWS()
		server := httptest.NewServer(aws.Handler())
		t.Cleanup(server.Close)
		return onAWS(aws, eks.New(aws.ConfigAt(server.URL)))
	})
}

func TestContractOnGoogleInMemory(t *testing.T) {
	cloudtest.Run(t, func(*testing.T) cloudtest.Fixture {
		google := newGoogle()
		return onGoogle(google, google.Account())
	})
}

// Google's own clients talk gRPC to the fake, and HTTP for Cloud Storage.
func TestContractOnGoogleOverTheWire(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T) cloudtest.Fixture {
		t.Helper()
		google := newGoogle()
		listener, server := bufconn.Listen(1<<20), grpc.NewServer()
		google.Register(server)
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		conn, err := grpc.NewClient("passthrough:///buf", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		require.NoError(t, err)
		rest := httptest.NewServer(google.StorageHandler())
		t.Cleanup(rest.Close)
		config, err := google.ConfigOver(t.Context(), conn, rest.URL)
		require.NoError(t, err)
		return onGoogle(google, gke.New(config))
	})
}

func newAWS() *eksfake.Fake {
	aws := eksfake.New("123456789012", "us-east-1", "main")
	aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	return aws
}

func onAWS(aws *eksfake.Fake, account cloud.Account) cloudtest.Fixture {
	const theirs = `{"Sid":"Theirs","Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`
	return cloudtest.Fixture{
		Account: account, Cluster: "main", Bucket: "acme-flyte",
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
}

func newGoogle() *gkefake.Fake {
	google := gkefake.New("acme-ml", "europe-west4", "main")
	google.PutBucket(gkefake.Bucket{Name: "acme-flyte"})
	return google
}

func onGoogle(google *gkefake.Fake, account cloud.Account) cloudtest.Fixture {
	has := func(identity, member string) bool {
		for _, b := range google.Bindings(identity) {
			if slices.Contains(b.GetMembers(), member) {
				return true
			}
		}
		return false
	}
	const meddler = "serviceAccount:acme-ml.svc.id.goog[meddler/default]"
	return cloudtest.Fixture{
		Account: account, Cluster: "main", Bucket: "acme-flyte",
		Writes: func() int { return len(google.Writes()) },
		May: func(_ *testing.T, identity, namespace, name string) bool {
			return has(identity, fmt.Sprintf("serviceAccount:acme-ml.svc.id.goog[%s/%s]", namespace, name))
		},
		Meddle: func(_ *testing.T, identity string) {
			google.AddMember(identity, "roles/iam.workloadIdentityUser", meddler)
		},
		Meddled: func(_ *testing.T, identity string) bool { return has(identity, meddler) },
		Deny:    func() { google.Fail(gkefake.Call("*"), gkefake.Denied) },
	}
}
