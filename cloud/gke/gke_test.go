package gke_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/type/expr"
)

const user = "roles/iam.workloadIdentityUser"

// world is a project with two clusters and a bucket.
type world struct {
	google  *gkefake.Fake
	account cloud.Account
}

func newWorld(options ...gke.Option) world {
	google := gkefake.New("acme-ml", "europe-west4", "main", "dp-1")
	google.PutBucket(gkefake.Bucket{Name: "acme-flyte"})
	return world{google, google.Account(options...)}
}

func (w world) subject(cluster, namespace, name string) cloud.Subject {
	return cloud.Subject{Cluster: w.account.Cluster(cluster), Namespace: namespace, ServiceAccount: name}
}

func (w world) spec(projects ...string) cloud.IdentitySpec {
	spec := cloud.IdentitySpec{Name: "flyte-user", Owner: "flyte.ml", Buckets: []cloud.BucketAccess{{Bucket: "acme-flyte"}}}
	for _, p := range projects {
		spec.Subjects = append(spec.Subjects, w.subject("main", p+"-production", "default"))
	}
	return spec
}

func (w world) stack(specs ...cloud.IdentitySpec) planewright.Stack {
	stack := planewright.NewStack("flyte/ml")
	p := w.account.Identities.Provision("flyte/ml/identity", specs...)
	if p.Err != nil {
		return stack.WithError(p.Err)
	}
	return stack.WithSteps(p.Steps...).WithProbes(p.Probes...)
}

func (w world) install(t *testing.T, specs ...cloud.IdentitySpec) *planewright.Report {
	t.Helper()
	report, err := planewright.Install(t.Context(), w.stack(specs...))
	require.NoError(t, err)
	return report
}

// members are those of the binding without a condition.
func (w world) members(name string) []string {
	for _, b := range w.google.Bindings(name) {
		if b.GetRole() == user && b.GetCondition() == nil {
			return b.GetMembers()
		}
	}
	return nil
}

func TestIdentitiesFromNothing(t *testing.T) {
	w := newWorld()
	p := w.account.Identities.Provision("flyte/ml/identity", w.spec("team1"))
	require.NoError(t, p.Err)
	assert.Equal(t, "flyte-user@acme-ml.iam.gserviceaccount.com", p.Identities[0].Principal)
	assert.Equal(t, map[string]string{"iam.gke.io/gcp-service-account": "flyte-user@acme-ml.iam.gserviceaccount.com"}, p.Identities[0].Annotations)

	report := w.install(t, w.spec("team1", "team2"))
	assert.ElementsMatch(t, []string{"flyte/ml/identity/flyte-user/service-account", "flyte/ml/identity/flyte-user/workload-identity", "flyte/ml/identity/flyte-user/bucket/acme-flyte"}, report.Changed())
	assert.Contains(t, fmt.Sprint(report.Findings), "ServiceAccounts of the same names in other clusters of project acme-ml have the same identities: dp-1 in europe-west4")
	assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[team1-production/default]", "serviceAccount:acme-ml.svc.id.goog[team2-production/default]"}, w.members("flyte-user"))
	assert.Equal(t, map[string]string{"roles/storage.objectAdmin": "", "roles/storage.legacyBucketReader": ""}, w.google.BucketRoles("acme-flyte", "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"))

	w.google.ForgetCalls()
	w.install(t, w.spec("team1", "team2"))
	assert.Empty(t, w.google.Writes())

	w.install(t, w.spec("team2"))
	assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[team2-production/default]"}, w.members("flyte-user"), "who is no longer named may no longer")

	_, err := planewright.Uninstall(t.Context(), w.stack(w.spec("team2")))
	require.NoError(t, err)
	_, ok := w.google.ServiceAccount("flyte-user")
	assert.False(t, ok)
	assert.Empty(t, w.google.BucketRoles("acme-flyte", "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"), "no deleted member is left behind")
}

func TestABindingWithAConditionIsNotTouched(t *testing.T) {
	w := newWorld()
	expired := &iampb.Binding{Role: user, Members: []string{"serviceAccount:acme-ml.svc.id.goog[old/default]"}, Condition: &expr.Expr{Title: "expired", Expression: "request.time < timestamp('2020-01-01T00:00:00Z')"}}
	viewer := &iampb.Binding{Role: "roles/viewer", Members: []string{"user:somebody@example.com"}}
	w.google.PutAccount("flyte-user", "Team one's", expired, viewer)

	_, err := planewright.Install(t.Context(), w.stack(w.spec("team1")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "the service account flyte-user@acme-ml.iam.gserviceaccount.com exists, and its description does not say that this stack made it")
	require.Empty(t, w.google.Writes())

	spec := w.spec("team1")
	spec.Adopt = true
	w.google.AddMember("flyte-user", user, "serviceAccount:acme-ml.svc.id.goog[theirs/default]")
	w.install(t, spec)
	assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[theirs/default]", "serviceAccount:acme-ml.svc.id.goog[team1-production/default]"}, w.members("flyte-user"), "in an adopted one members are only added")
	bindings := w.google.Bindings("flyte-user")
	assert.Equal(t, expired.GetMembers(), bindings[0].GetMembers())
	assert.Equal(t, "expired", bindings[0].GetCondition().GetTitle())
	assert.Equal(t, viewer.GetMembers(), bindings[1].GetMembers())

	_, err = planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	description, ok := w.google.ServiceAccount("flyte-user")
	assert.True(t, ok, "it was there before")
	assert.Equal(t, "Team one's", description)
	assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[theirs/default]"}, w.members("flyte-user"))
}

func TestSomebodyElseWritesThePolicyToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.Fail(gkefake.Call("SetIamPolicy"), gkefake.None, gkefake.Times(2), gkefake.Do(func() {
			w.google.AddMember("flyte-user", "roles/viewer", fmt.Sprintf("user:%d@example.com", len(w.google.Calls())))
		}))
		w.install(t, w.spec("team1"))
		assert.Len(t, w.google.Bindings("flyte-user"), 3, "theirs and ours")
		assert.Len(t, w.members("flyte-user"), 1)
	})
}

func TestANewServiceAccountIsNotKnownAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.SetLag(20 * time.Second)
		w.install(t, w.spec("team1"))
		assert.Len(t, w.members("flyte-user"), 1)
	})
}

func TestAPrefixIsACondition(t *testing.T) {
	w := newWorld()
	spec := w.spec("team1")
	spec.Buckets = []cloud.BucketAccess{{Bucket: "acme-flyte", Prefix: "models/", ReadOnly: true}}
	w.install(t, spec)
	assert.Equal(t, map[string]string{
		"roles/storage.legacyBucketReader": "",
		"roles/storage.objectViewer":       `resource.name.startsWith("projects/_/buckets/acme-flyte/objects/models/")`,
	}, w.google.BucketRoles("acme-flyte", "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"))
}

func TestEveryFaultAtEveryCall(t *testing.T) {
	counting := newWorld()
	counting.install(t, counting.spec("team1", "team2"))
	want, total := counting.members("flyte-user"), len(counting.google.Calls())
	for _, fault := range gkefake.Faults() {
		for nth := range total {
			for _, effect := range [][]gkefake.FaultOption{nil, {gkefake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					w.google.Fail(gkefake.Call("*"), fault, append(effect, gkefake.After(nth), gkefake.Times(1))...)
					_, disturbed := planewright.Install(t.Context(), w.stack(w.spec("team1", "team2")))
					w.google.Heal()
					w.google.Revive()
					if _, err := planewright.Install(t.Context(), w.stack(w.spec("team1", "team2"))); err != nil {
						t.Errorf("%s at call %d: %v (the disturbed install said: %v)", fault, nth, err, disturbed)
						return
					}
					assert.Equal(t, want, w.members("flyte-user"), "%s at call %d", fault, nth)
					w.google.ForgetCalls()
					w.install(t, w.spec("team1", "team2"))
					assert.Empty(t, w.google.Writes(), "%s at call %d", fault, nth)
				})
			}
		}
	}
}

func TestIdentitiesThatAreRefused(t *testing.T) {
	w := newWorld()
	change := func(f func(*cloud.IdentitySpec)) cloud.IdentitySpec {
		spec := w.spec("team1")
		f(&spec)
		return spec
	}
	for want, spec := range map[string]cloud.IdentitySpec{
		"has 6 to 30 lower-case letters":               change(func(s *cloud.IdentitySpec) { s.Name = "user" }),
		"somebody has to be allowed to take it on":     change(func(s *cloud.IdentitySpec) { s.Subjects = nil }),
		"trust policies are AWS's":                     change(func(s *cloud.IdentitySpec) { s.Trust = iam.NewTrustPolicy().WithPodIdentity() }),
		"managed policies are AWS's":                   change(func(s *cloud.IdentitySpec) { s.Policies = []string{"arn:aws:iam::aws:policy/X"} }),
		"Google's workload identity knows no patterns": change(func(s *cloud.IdentitySpec) { s.Subjects[0].Namespace, s.Subjects[0].Pattern = "*-production", true }),
		"a Google service account is taken on from GKE": change(func(s *cloud.IdentitySpec) {
			s.Subjects[0].Cluster = eksfake.New("123456789012", "us-east-1", "x").Account().Cluster("x")
		}),
		"a cluster in an account that can be asked about it":  change(func(s *cloud.IdentitySpec) { s.Subjects[0].Cluster.Account.Clusters = nil }),
		"it has no wildcards and does not begin with a slash": change(func(s *cloud.IdentitySpec) { s.Buckets[0].Prefix = "/models/*" }),
		"an owner is a part of the description":               change(func(s *cloud.IdentitySpec) { s.Owner = strings.Repeat("x", 250) }),
		"Cloud Storage uses its keys itself":                  change(func(s *cloud.IdentitySpec) { s.Buckets[0].KMSKey = "key" }),
		"use the bucket's plain name":                         change(func(s *cloud.IdentitySpec) { s.Buckets[0].Bucket = "gs://acme" }),
	} {
		err := w.account.Identities.Provision("flyte/ml/identity", spec).Err
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	assert.Empty(t, w.google.Calls())
	require.ErrorContains(t, gke.New(gke.Config{Container: w.google.Container(), IAM: w.google.IAM(), Storage: w.google.Storage()}).Identities.Provision("flyte/ml/identity", w.spec("team1")).Err, "a project is named by its id")

	w.google.ChangeCluster("main", func(c *containerpb.Cluster) { c.WorkloadIdentityConfig = nil })
	_, err := planewright.Install(t.Context(), w.stack(w.spec("team1")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.ErrorContains(t, err, "cluster main has no workload identity; switch it on: gcloud container clusters update main --location europe-west4 --workload-pool acme-ml.svc.id.goog")
}

func TestEndpoints(t *testing.T) {
	for kind, want := range map[gke.EndpointKind]string{"": "https://203.0.113.7", gke.PublicEndpoint: "https://203.0.113.7", gke.PrivateEndpoint: "https://10.0.0.2", gke.DNSEndpoint: "https://gke-main.europe-west4.gke.goog"} {
		w := newWorld(gke.WithEndpoint(kind))
		access, err := w.account.Clusters.Access(t.Context(), "main")
		require.NoError(t, err)
		assert.Equal(t, want, access.Endpoint)
		assert.Equal(t, kind != gke.DNSEndpoint, len(access.CA) > 0, "a DNS endpoint's certificate is signed by a public authority")
		assert.NotContains(t, fmt.Sprintf("%+v", access), "ya29")
	}
	w := newWorld()
	w.google.ChangeCluster("main", func(c *containerpb.Cluster) { c.Endpoint = "10.0.0.2" })
	_, err := w.account.Clusters.Access(t.Context(), "main")
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	require.ErrorContains(t, err, "cluster main has no public endpoint (it is RUNNING); choose another by gke.WithEndpoint")
	_, err = w.account.Clusters.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestAClusterIsMade(t *testing.T) {
	making := func(w world, spec cloud.ClusterSpec) planewright.Stack {
		p := w.account.Clusters.Provision("flyte/ml/clusters", spec)
		ref := w.account.Cluster(spec.Name())
		ref.Needs = []string{"flyte/ml/clusters/" + spec.Name() + "/cluster"}
		identity := w.spec()
		identity.Subjects = []cloud.Subject{{Cluster: ref, Namespace: "flyte", ServiceAccount: "flytepropeller"}}
		i := w.account.Identities.Provision("flyte/ml/identity", identity)
		return planewright.NewStack("flyte/ml").WithError(p.Err).WithSteps(p.Steps...).WithSteps(i.Steps...)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.SetPace(9 * time.Minute)
		w.google.Fail(gkefake.Call("CreateCluster"), gkefake.Busy, gkefake.Times(2))
		plan, err := planewright.Plan(t.Context(), making(w, cloud.NewCluster("dp-2")))
		require.NoError(t, err)
		binding, _ := plan.Step("flyte/ml/identity/flyte-user/workload-identity")
		assert.Equal(t, planewright.ActionUnknown, binding.Change.Action)
		_, err = planewright.Install(t.Context(), making(w, cloud.NewCluster("dp-2")))
		require.NoError(t, err)
		groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-2")
		require.NoError(t, err)
		assert.Equal(t, []any{"default", "e2-standard-4", true, cloud.ClusterReady}, []any{groups[0].Name, groups[0].MachineType, groups[0].WorkloadIdentity, groups[0].Status})
		w.google.ForgetCalls()
		_, err = planewright.Install(t.Context(), making(w, cloud.NewCluster("dp-2")))
		require.NoError(t, err)
		assert.Empty(t, w.google.Writes())
	})
	t.Run("an operation that is done may have failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.google.SetPace(time.Hour)
			time.AfterFunc(4*time.Minute, func() { w.google.FailOperations("Insufficient regional quota") })
			_, err := planewright.Install(t.Context(), making(w, cloud.NewCluster("dp-2")), planewright.WithAttempts(1))
			require.ErrorContains(t, err, "GKE has given up on cluster dp-2: Insufficient regional quota")
			_, err = planewright.Install(t.Context(), making(w, cloud.NewCluster("dp-2")))
			require.ErrorIs(t, err, planewright.ErrBlocked)
		})
	})
	t.Run("a stranger's is not taken", func(t *testing.T) {
		w := newWorld()
		_, err := planewright.Install(t.Context(), making(w, cloud.NewCluster("dp-1")))
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, "the cluster dp-1 exists, and its labels do not say that this stack made it")
	})
	for want, spec := range map[string]cloud.ClusterSpec{
		"a GKE cluster's name has at most 40":      cloud.NewCluster("DP"),
		"a version is like 1.33":                   cloud.NewCluster("dp").WithVersion("latest"),
		"a GKE cluster is in one subnetwork":       cloud.NewCluster("dp").WithSubnets("a", "b"),
		"roles of clusters and nodes are AWS's":    cloud.NewCluster("dp").WithRoles("arn:aws:iam::123456789012:role/x", ""),
		"this label says whose a cluster is":       cloud.NewCluster("dp").WithLabels(map[string]string{"planewright-stack": "mine"}),
		"a label of Google's has lower-case":       cloud.NewCluster("dp").WithLabels(map[string]string{"Team": "ML"}),
		"GKE makes no cluster without a node pool": cloud.NewCluster("dp").WithoutNodeGroups(),
	} {
		err := newWorld().account.Clusters.Provision("flyte/ml/clusters", spec).Err
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
}

func TestBuckets(t *testing.T) {
	w := newWorld()
	w.google.PutBucket(gkefake.Bucket{Name: "acme-open", Location: "eu", Public: true, Open: true, KMSKey: "projects/p/locations/eu/keyRings/r/cryptoKeys/k"})
	b, err := w.account.Buckets.Describe(t.Context(), "acme-flyte")
	require.NoError(t, err)
	assert.Equal(t, cloud.Bucket{Name: "acme-flyte", Location: "europe-west4", OwnedBy: "project number 1234567890", Ours: true, PublicAccessBlocked: true}, b)
	b, err = w.account.Buckets.Describe(t.Context(), "acme-open")
	require.NoError(t, err)
	assert.True(t, b.Public)
	assert.False(t, b.PublicAccessBlocked)
	_, err = w.account.Buckets.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = planewright.Install(t.Context(), w.stack(func() cloud.IdentitySpec {
		spec := w.spec("team1")
		spec.Buckets[0].Bucket = "nowhere"
		return spec
	}()))
	require.ErrorContains(t, err, "the bucket nowhere does not exist")
}

func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for dependency := range strings.SplitSeq(string(out), "\n") {
		for _, forbidden := range []string{"github.com/aws/", "k8s.io/", "helm.sh/", "sigs.k8s.io/", "github.com/planewright/planewright/kube"} {
			assert.False(t, strings.HasPrefix(dependency, forbidden), dependency)
		}
	}
}

func Example() {
	ctx := context.Background()
	google := gkefake.New("acme-ml", "europe-west4", "main") // with credentials: gke.Open(ctx, "acme-ml", "europe-west4")
	google.PutBucket(gkefake.Bucket{Name: "acme-flyte"})
	account := google.Account()

	identity := account.Identities.Provision("demo/ml/identity", cloud.IdentitySpec{
		Name: "flyte-backend", Owner: "demo.ml",
		Subjects: []cloud.Subject{{Cluster: account.Cluster("main"), Namespace: "flyte", ServiceAccount: "flyte-backend-flyte-binary"}},
		Buckets:  []cloud.BucketAccess{{Bucket: "acme-flyte"}},
	})
	fmt.Println(identity.Identities[0].Annotations)
	report, err := planewright.Install(ctx, planewright.NewStack("demo/ml").WithSteps(identity.Steps...))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range report.Changed() {
		fmt.Println(id)
	}
	// Output:
	// map[iam.gke.io/gcp-service-account:flyte-backend@acme-ml.iam.gserviceaccount.com]
	// demo/ml/identity/flyte-backend/service-account
	// demo/ml/identity/flyte-backend/workload-identity
	// demo/ml/identity/flyte-backend/bucket/acme-flyte
}
