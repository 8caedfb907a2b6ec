package flyte_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/flyte"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// registry is a cloud that notes which identities it was asked for.
type registry struct {
	provider cloud.Provider
	mu       sync.Mutex
	made     map[string]cloud.IdentitySpec
}

func (r *registry) get(name string) (cloud.IdentitySpec, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spec, ok := r.made[name]
	return spec, ok
}

func (r *registry) put(name string, spec cloud.IdentitySpec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[name] = spec
}

func (r *registry) delete(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, name)
}

func newRegistry(provider cloud.Provider) *registry {
	return &registry{provider: provider, made: map[string]cloud.IdentitySpec{}}
}

func (r *registry) account() cloud.Account {
	account := cloud.Account{Provider: r.provider, ID: "123456789012", Location: "us-east-1", Identities: r}
	account.Prune = func(entry planewright.InventoryEntry) (planewright.Step, bool) {
		name := entry.Objects[0].Name
		return planewright.Step{
			ID: entry.Step + "/pruned", Title: "no longer wanted: " + name, Objects: entry.Objects,
			Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
				if _, ok := r.get(name); !ok {
					return planewright.Change{}, nil
				}
				return planewright.Change{Action: planewright.ActionDelete}, nil
			},
			Apply: func(context.Context, *planewright.Run) error { r.delete(name); return nil },
		}, true
	}
	return account
}

// Provision implements cloud.Identities.
func (r *registry) Provision(prefix string, specs ...cloud.IdentitySpec) cloud.IdentityProvision {
	var p cloud.IdentityProvision
	for _, spec := range specs {
		id := prefix + "/" + spec.Name + "/role"
		p.Steps = append(p.Steps, planewright.Step{
			ID: id, Title: "IAM role " + spec.Name, Objects: []planewright.Object{{APIVersion: "iam", Kind: "Role", Name: spec.Name}},
			Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
				if have, ok := r.get(spec.Name); ok && slices.Equal(subjects(have), subjects(spec)) {
					return planewright.Change{}, nil
				}
				return planewright.Change{Action: planewright.ActionCreate}, nil
			},
			Apply: func(context.Context, *planewright.Run) error { r.put(spec.Name, spec); return nil },
			Undo:  func(context.Context, *planewright.Run) error { r.delete(spec.Name); return nil },
		})
		identity := cloud.Identity{Needs: []string{id}}
		switch r.provider {
		case cloud.AWS:
			identity.Principal = "arn:aws:iam::123456789012:role/" + spec.Name
			identity.Annotations = map[string]string{"eks.amazonaws.com/role-arn": identity.Principal}
		case cloud.GCP:
			identity.Principal = spec.Name + "@acme-ml.iam.gserviceaccount.com"
			identity.Annotations = map[string]string{"iam.gke.io/gcp-service-account": identity.Principal}
		}
		p.Identities = append(p.Identities, identity)
	}
	return p
}

// onCloud is a deployment whose identities are made, and a world whose cluster is in a cloud.
func onCloud(t *testing.T, provider cloud.Provider) (flyte.Deployment, world, *registry) {
	t.Helper()
	w, r := newWorld(t), newRegistry(provider)
	w.env = w.env.WithCloud("main", r.account().Cluster("acme-main"))
	d := production().
		WithProjects(flyte.NewProject("team1"), flyte.NewProject("team2")).
		WithIdentity(flyte.NewIdentity("flyte-backend")).
		WithUserIdentity(flyte.NewIdentity("flyte-user"))
	if provider == cloud.GCP {
		d = d.WithStorage(flyte.GCS("acme-flyte", "acme-ml"))
	}
	return d, w, r
}

// trusted is whom an identity trusts, sorted.
func (r *registry) trusted(name string) []string { return subjects(r.made[name]) }

func subjects(spec cloud.IdentitySpec) []string {
	var subjects []string
	for _, s := range spec.Subjects {
		text := s.Cluster.Name + " " + s.Namespace + "/" + s.ServiceAccount
		if s.Pattern {
			text += " (pattern)"
		}
		subjects = append(subjects, text)
	}
	slices.Sort(subjects)
	return subjects
}

func TestIdentitiesAreMadeBeforeTheReleaseAndWired(t *testing.T) {
	for provider, want := range map[cloud.Provider]struct{ annotation, backend, variable, user string }{
		cloud.AWS: {"eks.amazonaws.com/role-arn", "arn:aws:iam::123456789012:role/flyte-backend", "defaultIamRole", "arn:aws:iam::123456789012:role/flyte-user"},
		cloud.GCP: {"iam.gke.io/gcp-service-account", "flyte-backend@acme-ml.iam.gserviceaccount.com", "defaultIamServiceAccount", "flyte-user@acme-ml.iam.gserviceaccount.com"},
	} {
		t.Run(string(provider), func(t *testing.T) {
			d, w, r := onCloud(t, provider)
			report := w.install(t, d)
			release, _ := report.Step("flyte/ml/release")
			for _, id := range []string{"flyte/ml/identity/flyte-backend/role", "flyte/ml/identity/flyte-user/role"} {
				identity, ok := report.Step(id)
				require.True(t, ok)
				assert.False(t, release.Started.Before(identity.Ended), "%s is there before the pods that need it", id)
			}
			assert.Equal(t, []string{"acme-main flyte/flyte-backend-flyte-binary"}, r.trusted("flyte-backend"), "flyte-binary's own ServiceAccount, not flyteadmin")
			assert.Equal(t, []string{
				"acme-main team1-development/default", "acme-main team1-production/default", "acme-main team1-staging/default",
				"acme-main team2-development/default", "acme-main team2-production/default", "acme-main team2-staging/default",
			}, r.trusted("flyte-user"), "exactly the projects' namespaces")
			assert.Equal(t, []cloud.BucketAccess{{Bucket: "acme-flyte"}}, r.made["flyte-backend"].Buckets)
			assert.Equal(t, "flyte.ml", r.made["flyte-backend"].Owner)

			account := w.get(t, "v1", "ServiceAccount", "flyte", "flyte-backend-flyte-binary")
			assert.Equal(t, want.backend, account.GetAnnotations()[want.annotation])
			rendered := files(t, d, w.env)
			assert.Contains(t, rendered, want.variable)
			assert.Contains(t, rendered, want.user)

			plan, err := d.Plan(t.Context(), w.env)
			require.NoError(t, err)
			planewright.AssertNoChanges(t, plan)
			planewright.AssertTouchesOnly(t, must(d.WithProjects(flyte.NewProject("team3")).Plan(t.Context(), w.env)), "flyte/ml/identity/flyte-user/role", "flyte/ml/release")

			_, err = d.Uninstall(t.Context(), w.env)
			require.NoError(t, err)
			assert.Empty(t, r.made)
		})
	}
}

func TestAnIdentityThatIsNoLongerWantedIsTakenAway(t *testing.T) {
	d, w, r := onCloud(t, cloud.AWS)
	w.install(t, d)
	assert.Equal(t, []string{"flyte-backend", "flyte-user"}, slices.Sorted(maps.Keys(r.made)))
	w.install(t, d.WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/other")))
	assert.Equal(t, []string{"flyte-backend"}, slices.Sorted(maps.Keys(r.made)))
}

func TestOneIdentityForFlyteAndItsUserCode(t *testing.T) {
	d, w, r := onCloud(t, cloud.AWS)
	w.install(t, d.WithDomains("development", "production").
		WithUserIdentity(flyte.NewIdentity("flyte-backend")).
		WithDomainIdentity("production", flyte.NewIdentity("flyte-production").WithBuckets(cloud.BucketAccess{Bucket: "acme-models", ReadOnly: true})))
	assert.Equal(t, []string{
		"acme-main flyte/flyte-backend-flyte-binary", "acme-main team1-development/default", "acme-main team2-development/default",
	}, r.trusted("flyte-backend"))
	assert.Equal(t, []string{"acme-main team1-production/default", "acme-main team2-production/default"}, r.trusted("flyte-production"))
	assert.Equal(t, []cloud.BucketAccess{{Bucket: "acme-flyte"}, {Bucket: "acme-models", ReadOnly: true}}, r.made["flyte-production"].Buckets)
}

func TestProjectsThatAreMadeLaterAreTrustedOnRequest(t *testing.T) {
	d, w, r := onCloud(t, cloud.AWS)
	w.install(t, d.WithDomains("development", "production").WithUserIdentity(flyte.NewIdentity("flyte-user").ForAnyProject()))
	assert.Equal(t, []string{"acme-main *-development/default (pattern)", "acme-main *-production/default (pattern)"}, r.trusted("flyte-user"))
}

func TestIdentitiesThatCannotBeMade(t *testing.T) {
	gcs := flyte.GCS("acme-flyte", "acme-ml")
	for name, c := range map[string]struct {
		change func(flyte.Deployment) flyte.Deployment
		env    func(flyte.Env) flyte.Env
		want   string
	}{
		"no cloud is known": {env: func(flyte.Env) flyte.Env { return newWorld(t).env },
			want: `env.clouds "main": an identity can be made only where the cluster's cloud is known`},
		"the bucket is in another cloud": {change: func(d flyte.Deployment) flyte.Deployment { return d.WithStorage(gcs) },
			want: "an identity of aws account 123456789012 in us-east-1 gives no access to it"},
		"a pattern on Google": {
			change: func(d flyte.Deployment) flyte.Deployment {
				return d.WithStorage(gcs).WithUserIdentity(flyte.NewIdentity("flyte-user").ForAnyProject())
			},
			env: func(e flyte.Env) flyte.Env {
				return e.WithCloud("main", newRegistry(cloud.GCP).account().Cluster("acme-main"))
			},
			want: "Google's workload identity knows no patterns of namespaces"},
		"domains with annotations that differ": {change: func(d flyte.Deployment) flyte.Deployment {
			return d.WithDomainIdentity("production", flyte.Annotations(map[string]string{"azure.workload.identity/client-id": "1"}))
		}, want: "one ServiceAccount template serves them all"},
		"it has no name": {change: func(d flyte.Deployment) flyte.Deployment { return d.WithIdentity(flyte.NewIdentity("")) },
			want: "identity.name: an identity that the deployment makes has a name"},
		"it exists and is said to be made": {change: func(d flyte.Deployment) flyte.Deployment {
			return d.WithIdentity(flyte.AWSRole("arn:aws:iam::123456789012:role/flyte").WithAdoption())
		}, want: "what an identity trusts and may do is said of one that the deployment makes"},
	} {
		t.Run(name, func(t *testing.T) {
			d, w, r := onCloud(t, cloud.AWS)
			if c.change != nil {
				d = c.change(d)
			}
			if c.env != nil {
				w.env = c.env(w.env)
			}
			_, err := d.Install(t.Context(), w.env)
			require.ErrorIs(t, err, planewright.ErrInvalid)
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, r.made)
		})
	}
}

// files renders a deployment into one text.
func files(t *testing.T, d flyte.Deployment, env flyte.Env) string {
	t.Helper()
	m := memory{}
	require.NoError(t, d.Render(t.Context(), env, m))
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(name + "\n" + m[name] + "\n")
	}
	return b.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
