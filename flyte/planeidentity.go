package flyte

import (
	"fmt"
	"maps"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// provisions are what makes the identities of a deployment in planes.
type provisions struct {
	steps  []planewright.Step
	probes []planewright.Probe
	// needs are the steps that a release waits for, by the data plane's name;
	// those of the control plane have none.
	needs map[string][]string
}

// planeUse is one identity to be made in one account, with all that uses it.
type planeUse struct {
	path     string
	account  cloud.Account
	identity Identity
	subjects []cloud.Subject
}

// key tells identities apart: IAM roles and service accounts belong to an
// account, whatever the region.
func (u planeUse) key() string { return identityKey(u.account, u.identity) }

func identityKey(account cloud.Account, identity Identity) string {
	return string(account.Provider) + "/" + account.ID + "/" + identity.value
}

// defaulted returns the deployment with the identities that it makes where
// nothing is said, see [ControlPlane.WithIdentity].
func (d Deployment) defaulted(env Env) Deployment {
	fill := func(identity Identity, cluster, part string) Identity {
		where, ok := env.clouds[cluster]
		if !identity.IsZero() || !ok || where.Account.Identities == nil || !d.storage.on(where.Account.Provider) || d.storage.keyed() {
			return identity
		}
		return NewIdentity("flyte-" + d.name + "-" + part)
	}
	d.control.identity = fill(d.control.identity, d.control.cluster, "controlplane")
	d.dataplanes = slices.Clone(d.dataplanes)
	shared := Identity{}
	if d.control.executes != "" {
		shared = d.control.identity
	}
	for i, p := range d.dataplanes {
		d.dataplanes[i].identity = fill(p.identity, p.cluster, "dataplane")
		if d.dataplanes[i].identity.kind == identityNew {
			shared = d.dataplanes[i].identity
		}
	}
	if d.userIdentity.IsZero() && len(d.domainIdentities) == 0 && shared.kind == identityNew {
		d.userIdentity = NewIdentity(shared.value)
	}
	return d
}

// planeUses returns the identities to be made, each once, and what is wrong
// with them on the Env. The deployment is one that defaulted returned.
func (d Deployment) planeUses(p *planewright.Problems, env Env) []planeUse {
	var uses []planeUse
	add := func(path string, identity Identity, cluster string, subjects func(cloud.ClusterRef) []cloud.Subject) {
		if identity.kind != identityNew {
			return
		}
		where, ok := env.clouds[cluster]
		switch {
		case !ok || where.Account.Identities == nil:
			p.Add("env.clouds", cluster, "an identity can be made only where the cluster's cloud is known ("+path+")", "use Env.WithCloud, or name an identity that exists by AWSRole or GCPServiceAccount")
			return
		case d.storage.provider != "" && !d.storage.on(where.Account.Provider):
			p.Add(path, identity.value, fmt.Sprintf("an identity of %s gives no access to %s", where.Account, d.storage), "use a bucket of the same cloud, or keys and NodeIdentity")
			return
		case identity.made.anyProject && where.Account.Provider != cloud.AWS:
			p.Add(path, identity.value, "Google's workload identity knows no patterns of namespaces", "name the projects by WithProjects, and leave ForAnyProject out")
			return
		}
		u := planeUse{path: path, account: where.Account, identity: identity}
		i := slices.IndexFunc(uses, func(have planeUse) bool { return have.key() == u.key() })
		if i < 0 {
			i = len(uses)
			uses = append(uses, u)
		} else {
			uses[i].identity.made = uses[i].identity.made.merge(identity.made)
		}
		for _, subject := range subjects(where) {
			if !slices.ContainsFunc(uses[i].subjects, func(s cloud.Subject) bool { return sameSubject(s, subject) }) {
				uses[i].subjects = append(uses[i].subjects, subject)
			}
		}
	}
	accounts := func(names ...string) func(cloud.ClusterRef) []cloud.Subject {
		return func(where cloud.ClusterRef) (list []cloud.Subject) {
			for _, name := range names {
				list = append(list, cloud.Subject{Cluster: where, Namespace: d.namespace, ServiceAccount: name})
			}
			return list
		}
	}
	control := d.control.identity
	control.made.trust = control.made.trust.Merge(d.control.trust)
	names := []string{"flyteadmin", "datacatalog"}
	if d.control.executes != "" {
		names = append(names, "flytepropeller")
	}
	add("controlplane.identity", control, d.control.cluster, accounts(names...))
	for i, plane := range d.dataplanes {
		identity := plane.identity
		identity.made.trust = identity.made.trust.Merge(plane.trust)
		add(fmt.Sprintf("dataplanes[%d].identity", i), identity, plane.cluster, accounts("flytepropeller"))
	}
	for _, domain := range d.Domains() {
		path := "userIdentity"
		if _, own := d.domainIdentities[domain]; own {
			path = "userIdentities." + domain
		}
		identity := d.userIdentityIn(domain)
		for _, e := range d.executors() {
			add(path, identity, e.cluster, func(where cloud.ClusterRef) []cloud.Subject { return d.userSubjects(where, identity, domain) })
		}
	}
	return uses
}

// userSubjects are the ServiceAccounts of user code in one domain of one cluster.
func (d Deployment) userSubjects(where cloud.ClusterRef, identity Identity, domain string) []cloud.Subject {
	if identity.made.anyProject {
		return []cloud.Subject{{Cluster: where, Namespace: d.projectNamespace("*", domain), ServiceAccount: "default", Pattern: true}}
	}
	var list []cloud.Subject
	for _, project := range d.projectNames() {
		list = append(list, cloud.Subject{Cluster: where, Namespace: d.projectNamespace(project, domain), ServiceAccount: "default"})
	}
	return list
}

func sameSubject(a, b cloud.Subject) bool {
	return a.Cluster.Name == b.Cluster.Name && a.Cluster.Account.ID == b.Cluster.Account.ID && a.Cluster.Account.Location == b.Cluster.Account.Location &&
		a.Namespace == b.Namespace && a.ServiceAccount == b.ServiceAccount && a.Pattern == b.Pattern
}

// merge returns what is said of an identity in either place.
func (m madeIdentity) merge(other madeIdentity) madeIdentity {
	m.trust = m.trust.Merge(other.trust)
	for _, bucket := range other.buckets {
		if !slices.Contains(m.buckets, bucket) {
			m.buckets = append(slices.Clip(m.buckets), bucket)
		}
	}
	for _, policy := range other.policies {
		if !slices.Contains(m.policies, policy) {
			m.policies = append(slices.Clip(m.policies), policy)
		}
	}
	m.anyProject = m.anyProject || other.anyProject
	m.adopt = m.adopt || other.adopt
	return m
}

// provisionPlanes returns the deployment with its identities in place, and
// what makes them.
func (d Deployment) provisionPlanes(env Env) (Deployment, provisions, error) {
	d = d.defaulted(env)
	var p planewright.Problems
	uses := d.planeUses(&p, env)
	if err := p.Err(d.spec()); err != nil {
		return d, provisions{}, err
	}
	made, all, err := d.provisionUses(uses)
	if err != nil {
		return d, provisions{}, err
	}
	resolve := func(identity Identity, cluster string) (Identity, []string) {
		if identity.kind != identityNew {
			return identity, nil
		}
		account := env.clouds[cluster].Account
		of := made[identityKey(account, identity)]
		return madeAs(account.Provider, of), of.Needs
	}
	d.control.identity, all.needs[""] = resolve(d.control.identity, d.control.cluster)
	for i, plane := range d.dataplanes {
		d.dataplanes[i].identity, all.needs[plane.name] = resolve(plane.identity, plane.cluster)
	}
	user := func(path string, identity Identity) Identity {
		if identity.kind != identityNew {
			return identity
		}
		united := Identity{annotations: map[string]string{}}
		for _, e := range d.executors() {
			in, needs := resolve(identity, e.cluster)
			for _, need := range needs {
				if !slices.Contains(all.needs[""], need) {
					all.needs[""] = append(all.needs[""], need)
				}
			}
			united = d.unite(&p, path, united, in)
		}
		if len(united.annotations) == 0 {
			return Identity{}
		}
		return united
	}
	d.userIdentity = user("userIdentity", d.userIdentity)
	domains := map[string]Identity{}
	for _, domain := range slices.Sorted(maps.Keys(d.domainIdentities)) {
		domains[domain] = user("userIdentities."+domain, d.domainIdentities[domain])
	}
	d.domainIdentities = domains
	return d, all, p.Err(d.spec())
}

// unite adds the annotations of another cluster's identity. flyteadmin makes
// the same ServiceAccount in every cluster, so there is one value for each.
func (d Deployment) unite(p *planewright.Problems, path string, united, in Identity) Identity {
	for key, value := range in.annotations {
		if had, ok := united.annotations[key]; ok && had != value {
			p.Add(path, value, fmt.Sprintf("flyteadmin annotates user code's ServiceAccounts alike in all clusters, and %s is %s in another account", key, had), "use EKS Pod Identity, which needs no annotation, or keep the clusters in one account")
			continue
		}
		united.annotations[key] = value
		united.kind, united.value = in.kind, in.value
	}
	return united
}

// provisionUses makes the identities, account by account.
func (d Deployment) provisionUses(uses []planeUse) (map[string]cloud.Identity, provisions, error) {
	made, all := map[string]cloud.Identity{}, provisions{needs: map[string][]string{}}
	for len(uses) > 0 {
		account := uses[0].account
		var here, rest []planeUse
		for _, u := range uses {
			if u.account.Provider == account.Provider && u.account.ID == account.ID {
				here = append(here, u)
			} else {
				rest = append(rest, u)
			}
		}
		uses = rest
		specs := make([]cloud.IdentitySpec, len(here))
		for i, u := range here {
			specs[i] = cloud.IdentitySpec{
				Name: u.identity.value, Subjects: u.subjects,
				Buckets: append(d.bucketAccess(), u.identity.made.buckets...),
				Trust:   u.identity.made.trust, Policies: u.identity.made.policies,
				Owner: d.owner(), Adopt: u.identity.made.adopt,
			}
		}
		provision := account.Identities.Provision(d.id()+"/identity/"+account.ID, specs...)
		if provision.Err != nil {
			return nil, provisions{}, provision.Err
		}
		for i, u := range here {
			made[u.key()] = provision.Identities[i]
		}
		all.steps, all.probes = append(all.steps, provision.Steps...), append(all.probes, provision.Probes...)
	}
	return made, all, nil
}
