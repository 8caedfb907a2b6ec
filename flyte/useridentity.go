package flyte

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// userIdentityIn returns the identity of user code in a domain.
func (d Deployment) userIdentityIn(domain string) Identity {
	if identity, ok := d.domainIdentities[domain]; ok {
		return identity
	}
	return d.userIdentity
}

func (d Deployment) hasUserIdentity() bool {
	return slices.ContainsFunc(d.Domains(), func(domain string) bool {
		kind := d.userIdentityIn(domain).kind
		return kind != "" && kind != identityOff
	})
}

// identityVariables returns the template variables that carry the identity
// of user code in a domain.
func (d Deployment) identityVariables(domain string) map[string]string {
	annotations := d.userIdentityIn(domain).annotations
	variables := map[string]string{}
	for i, key := range d.userAnnotations() {
		if value, ok := annotations[key]; ok {
			variables[identityVariable(key, i)] = value
		}
	}
	return variables
}

// identityVariable is the template variable for the i-th annotation of user
// code's ServiceAccount. The clouds' own are called as in the charts' overlays.
func identityVariable(annotation string, i int) string {
	switch annotation {
	case awsRoleAnnotation:
		return "defaultIamRole"
	case gcpAnnotation:
		return "defaultIamServiceAccount"
	}
	return fmt.Sprintf("userIdentity%d", i)
}

// userAnnotations returns the annotations of the ServiceAccount of user code, sorted.
func (d Deployment) userAnnotations() []string {
	keys := map[string]bool{}
	for _, domain := range d.Domains() {
		for key := range d.userIdentityIn(domain).annotations {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// accountTemplateText is the template of the ServiceAccount that user code
// runs as, with the annotations of its identity.
func (d Deployment) accountTemplateText() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: default\n  namespace: '{{ namespace }}'\n  annotations:\n")
	for i, key := range d.userAnnotations() {
		fmt.Fprintf(&b, "    %s: '{{ %s }}'\n", key, identityVariable(key, i))
	}
	return b.String()
}

func (d Deployment) validateIdentities(p *planewright.Problems) {
	d.identity.validate(p, "identity")
	d.userIdentity.validate(p, "userIdentity")
	for _, domain := range slices.Sorted(maps.Keys(d.domainIdentities)) {
		at := "userIdentities." + domain
		d.domainIdentities[domain].validate(p, at)
		if !slices.Contains(d.Domains(), domain) {
			p.Add(at, domain, "the deployment has the domains "+joinAnd(d.Domains()), "use one of them, or add it by WithDomains")
		}
	}
	d.validateSameIdentities(p)
	d.validatePartition(p, "identity", d.identity)
	d.validatePartition(p, "userIdentity", d.userIdentity)
	for _, domain := range slices.Sorted(maps.Keys(d.domainIdentities)) {
		d.validatePartition(p, "userIdentities."+domain, d.domainIdentities[domain])
	}
}

// validateSameIdentities checks that every domain has an identity with the
// same annotations: one template serves them all.
func (d Deployment) validateSameIdentities(p *planewright.Problems) {
	if !d.hasUserIdentity() {
		return
	}
	all := d.userAnnotations()
	for _, domain := range d.Domains() {
		identity := d.userIdentityIn(domain)
		if identity.kind == identityNew {
			continue // the cloud says later which annotations it has
		}
		for _, key := range all {
			if _, ok := identity.annotations[key]; !ok {
				p.Add("userIdentities."+domain, identity.String(), "the annotation "+key+" is set in other domains; one ServiceAccount template serves them all", "give every domain an identity of the same kind")
			}
		}
	}
}

// validatePartition checks that a role is in the partition of the storage's region.
func (d Deployment) validatePartition(p *planewright.Problems, path string, identity Identity) {
	partition := identity.partition()
	if partition == "" || d.storage.provider != providerS3 || d.storage.compatible || !awsRegion.MatchString(d.storage.region) {
		return
	}
	if want := awsPartition(d.storage.region); partition != want {
		p.Add(path, identity.value, fmt.Sprintf("the role is in partition %s, the bucket's region %s in %s", partition, d.storage.region, want), "use a role of the same partition")
	}
}
