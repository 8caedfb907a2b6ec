package flyte

import (
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/iam"
)

// NewIdentity is a cloud identity of the given name that the deployment makes
// in the cloud of its cluster (see [Env.WithCloud]): an IAM role with its trust
// policy on AWS, a service account with its bindings on Google Cloud. It trusts
// exactly the ServiceAccounts that use it, and may read and write the
// deployment's buckets, nothing else.
//
// For user code these are the ServiceAccounts named default in the namespaces
// of [Deployment.WithProjects] and [Deployment.WithDomains]; a project that is
// made later without the deployment knowing of it is not trusted, unless
// [Identity.ForAnyProject] says so.
//
// The same identity may be used several times, for all domains but one, say.
func NewIdentity(name string) Identity { return Identity{kind: identityNew, value: name} }

// madeIdentity is what is said of an identity that the deployment makes.
type madeIdentity struct {
	trust      iam.TrustPolicy
	buckets    []cloud.BucketAccess
	policies   []string
	anyProject bool
	adopt      bool
}

func (m madeIdentity) isZero() bool {
	return m.trust.IsZero() && len(m.buckets) == 0 && len(m.policies) == 0 && !m.anyProject && !m.adopt
}

// WithTrust lays a trust policy over the one that is derived: what else may
// assume the role. AWS only.
func (i Identity) WithTrust(trust iam.TrustPolicy) Identity {
	i.made.trust = trust
	return i
}

// WithBuckets adds buckets that the identity may use beside the deployment's own.
func (i Identity) WithBuckets(buckets ...cloud.BucketAccess) Identity {
	i.made.buckets = append(slices.Clip(i.made.buckets), buckets...)
	return i
}

// WithPolicies attaches further managed policies to the role, by their ARNs. AWS only.
func (i Identity) WithPolicies(arns ...string) Identity {
	i.made.policies = append(slices.Clip(i.made.policies), arns...)
	return i
}

// ForAnyProject has the identity of user code trust every project's namespace:
// "*-development" and so on for the deployment's domains. Whoever may make a
// namespace whose name ends so, in the deployment's cluster, can then take the
// identity on. AWS only: Google's workload identity knows no patterns.
func (i Identity) ForAnyProject() Identity {
	i.made.anyProject = true
	return i
}

// WithAdoption takes over an identity of that name that exists and that this
// deployment did not make. By default it is refused.
func (i Identity) WithAdoption() Identity {
	i.made.adopt = true
	return i
}

// validate checks what can be told without knowing the cloud.
func (m madeIdentity) validate(p *planewright.Problems, path, name string) {
	if name == "" {
		p.Add(path+".name", "", "an identity that the deployment makes has a name", "give NewIdentity the name of a role or service account")
	}
}

// use is one identity to be made, with all that uses it.
type use struct {
	path     string
	identity Identity
	// backend is set if Flyte itself uses it, domains are those whose user code does.
	backend bool
	domains []string
}

// uses returns the identities to be made, each once, in the order of their first use.
func (d Deployment) uses() []use {
	var uses []use
	add := func(path string, identity Identity) *use {
		if identity.kind != identityNew {
			return &use{}
		}
		i := slices.IndexFunc(uses, func(u use) bool { return u.identity.value == identity.value })
		if i < 0 {
			i = len(uses)
			uses = append(uses, use{path: path, identity: identity})
		}
		return &uses[i]
	}
	add("identity", d.identity).backend = true
	for _, domain := range d.Domains() {
		path := "userIdentity"
		if _, own := d.domainIdentities[domain]; own {
			path = "userIdentities." + domain
		}
		u := add(path, d.userIdentityIn(domain))
		u.domains = append(u.domains, domain)
	}
	return uses
}

// validateUses checks that the identities to be made can be made on the Env.
func (d Deployment) validateUses(p *planewright.Problems, env Env) {
	uses := d.uses()
	if len(uses) == 0 {
		return
	}
	where, ok := env.clouds[d.cluster]
	if !ok || where.Account.Identities == nil {
		p.Add("env.clouds", d.cluster, "an identity can be made only where the cluster's cloud is known", "use Env.WithCloud, or name an identity that exists by AWSRole or GCPServiceAccount")
		return
	}
	if d.storage.provider != "" && !d.storage.on(where.Account.Provider) {
		p.Add("storage", d.storage.String(), fmt.Sprintf("an identity of %s gives no access to it", where.Account), "use a bucket of the same cloud, or keys and an existing identity")
	}
	for _, u := range uses {
		if u.identity.made.anyProject && where.Account.Provider != cloud.AWS {
			p.Add(u.path, u.identity.value, "Google's workload identity knows no patterns of namespaces", "name the projects by WithProjects, and leave ForAnyProject out")
		}
	}
}

// on reports whether the storage is the cloud's own.
func (s Storage) on(provider cloud.Provider) bool {
	return provider == cloud.AWS && s.provider == providerS3 && !s.compatible ||
		provider == cloud.GCP && s.provider == providerGCS
}

// provisioned returns the deployment with its new identities in place, and what
// makes them. The deployment and its Env are valid.
func (d Deployment) provisioned(env Env) (Deployment, cloud.IdentityProvision) {
	uses := d.uses()
	if len(uses) == 0 {
		return d, cloud.IdentityProvision{}
	}
	where := env.clouds[d.cluster]
	specs := make([]cloud.IdentitySpec, len(uses))
	for i, u := range uses {
		specs[i] = cloud.IdentitySpec{
			Name:     u.identity.value,
			Subjects: d.subjects(where, u),
			Buckets:  append(d.bucketAccess(), u.identity.made.buckets...),
			Trust:    u.identity.made.trust,
			Policies: u.identity.made.policies,
			Owner:    d.owner(),
			Adopt:    u.identity.made.adopt,
		}
	}
	provision := where.Account.Identities.Provision(d.id()+"/identity", specs...)
	if provision.Err != nil {
		return d, provision
	}
	made := func(identity Identity) Identity {
		if identity.kind != identityNew {
			return identity
		}
		i := slices.IndexFunc(uses, func(u use) bool { return u.identity.value == identity.value })
		return madeAs(where.Account.Provider, provision.Identities[i])
	}
	d.identity, d.userIdentity = made(d.identity), made(d.userIdentity)
	domains := map[string]Identity{}
	for domain, identity := range d.domainIdentities {
		domains[domain] = made(identity)
	}
	d.domainIdentities = domains
	return d, provision
}

// madeAs is an identity as ServiceAccounts need to know it. One that needs no
// annotation is no identity to them.
func madeAs(provider cloud.Provider, identity cloud.Identity) Identity {
	if len(identity.Annotations) == 0 {
		return Identity{}
	}
	kind := identityAWS
	if provider == cloud.GCP {
		kind = identityGCP
	}
	return Identity{kind: kind, value: identity.Principal, annotations: identity.Annotations}
}

// exampleProject is the project that flyteadmin makes where none is named.
const exampleProject = "flytesnacks"

// subjects are the ServiceAccounts that use an identity.
func (d Deployment) subjects(where cloud.ClusterRef, u use) []cloud.Subject {
	var subjects []cloud.Subject
	if u.backend {
		subjects = append(subjects, cloud.Subject{Cluster: where, Namespace: d.namespace, ServiceAccount: d.ServiceAccount()})
	}
	projects := d.projects
	if len(projects) == 0 {
		projects = []Project{NewProject(exampleProject)}
	}
	for _, domain := range u.domains {
		if u.identity.made.anyProject {
			subjects = append(subjects, cloud.Subject{Cluster: where, Namespace: "*-" + domain, ServiceAccount: "default", Pattern: true})
			continue
		}
		for _, project := range projects {
			subjects = append(subjects, cloud.Subject{Cluster: where, Namespace: d.projectNamespace(project.name, domain), ServiceAccount: "default"})
		}
	}
	return subjects
}

// bucketAccess is what Flyte and its user code do in the deployment's buckets:
// both write to both, since a task's outputs are metadata too.
func (d Deployment) bucketAccess() []cloud.BucketAccess {
	access := []cloud.BucketAccess{{Bucket: d.storage.bucket, KMSKey: d.storage.kmsKey}}
	if user := d.storage.UserDataBucket(); user != d.storage.bucket {
		access = append(access, cloud.BucketAccess{Bucket: user, KMSKey: d.storage.kmsKey})
	}
	return access
}
