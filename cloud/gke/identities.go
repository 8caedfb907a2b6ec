package gke

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// identities implements cloud.Identities with Google service accounts.
type identities struct{ *project }

// accountAnnotation is how a ServiceAccount names the Google one of its pods.
const accountAnnotation = "iam.gke.io/gcp-service-account"

// CodeSharedPool is the code of the finding that other clusters share the
// workload pool: their ServiceAccounts of the same names have the same identity.
const CodeSharedPool = "gcp-shared-workload-pool"

// Provision implements [cloud.Identities]. Its steps are, for an identity
// called flyte-user:
//
//	PREFIX/flyte-user/service-account     the Google service account
//	PREFIX/flyte-user/workload-identity   who may take it on
//	PREFIX/flyte-user/bucket/acme-flyte   what it may do in a bucket
func (i *identities) Provision(prefix string, specs ...cloud.IdentitySpec) cloud.IdentityProvision {
	if err := i.validate(specs); err != nil {
		return cloud.IdentityProvision{Err: err}
	}
	var made cloud.IdentityProvision
	for _, spec := range specs {
		if spec.Owner == "" {
			spec.Owner = stackOf(prefix)
		}
		base := prefix + "/" + spec.Name
		account := accountStep{project: i.project, id: base + "/service-account", name: spec.Name, owner: spec.Owner, adopt: spec.Adopt}
		binding := bindingStep{accountStep: account, needs: []string{account.id}, subjects: spec.Subjects}
		binding.id = base + "/workload-identity"
		for _, s := range spec.Subjects {
			for _, need := range s.Cluster.Needs {
				if !slices.Contains(binding.needs, need) {
					binding.needs = append(binding.needs, need)
				}
			}
		}
		made.Steps = append(made.Steps, account.step(), binding.step())
		identity := cloud.Identity{Principal: i.email(spec.Name), Annotations: map[string]string{accountAnnotation: i.email(spec.Name)}, Needs: []string{binding.id}}
		var buckets []string
		for _, access := range spec.Buckets {
			if !slices.Contains(buckets, access.Bucket) {
				buckets = append(buckets, access.Bucket)
			}
		}
		for _, bucket := range buckets {
			grant := grantStep{accountStep: account, needs: []string{account.id}, bucket: bucket,
				accesses: slices.DeleteFunc(slices.Clone(spec.Buckets), func(b cloud.BucketAccess) bool { return b.Bucket != bucket })}
			grant.id = base + "/bucket/" + bucket
			made.Steps = append(made.Steps, grant.step())
			identity.Needs = append(identity.Needs, grant.id)
		}
		made.Identities = append(made.Identities, identity)
	}
	made.Probes = append(i.metadataProbes(prefix, specs), i.poolProbe(prefix, specs))
	return made
}

var (
	accountName = regexp.MustCompile(`^[a-z][a-z0-9-]{4,28}[a-z0-9]$`)
	bucketName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)
	kubeName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
)

// validateProject checks what all names are made of.
func (p *project) validateProject(problems *planewright.Problems) {
	if p.Project == "" || strings.ContainsAny(p.Project, "/ ") {
		problems.Add("project", p.Project, "a project is named by its id", "set gke.Config's Project")
	}
	if p.Location == "" || strings.ContainsAny(p.Location, "/ ") {
		problems.Add("location", p.Location, "clusters are in a region or a zone", "set gke.Config's Location")
	}
}

func (i *identities) validate(specs []cloud.IdentitySpec) error {
	var p planewright.Problems
	if i.IAM == nil || i.Container == nil || i.Storage == nil {
		p.Add("account", i.Project, "the account lacks a client for IAM, GKE or Cloud Storage, so it can make no identities", "give gke.Config all three, or use gke.Open")
	}
	i.validateProject(&p)
	seen := map[string]bool{}
	for n, spec := range specs {
		path := fmt.Sprintf("identities[%d]", n)
		if !accountName.MatchString(spec.Name) {
			p.Add(path+".name", spec.Name, "a Google service account's name has 6 to 30 lower-case letters, digits and hyphens, and begins with a letter", "rename it")
		}
		if seen[spec.Name] {
			p.Add(path+".name", spec.Name, "an identity is named once", "choose another name")
		}
		seen[spec.Name] = true
		if len(mark(spec.Owner)+adoptedMark) > maxDescription || strings.ContainsFunc(spec.Owner, func(r rune) bool { return r < ' ' }) {
			p.Add(path+".owner", spec.Owner, fmt.Sprintf("an owner is a part of the description, which has %d characters", maxDescription), "leave it out to use the stack's name")
		}
		if !spec.Trust.IsZero() {
			p.Add(path+".trust", "", "trust policies are AWS's", "name the ServiceAccounts as subjects")
		}
		if len(spec.Policies) > 0 {
			p.Add(path+".policies", strings.Join(spec.Policies, ", "), "managed policies are AWS's", "grant further roles to the service account yourself")
		}
		if len(spec.Subjects) == 0 {
			p.Add(path+".subjects", "", "somebody has to be allowed to take it on", "name a ServiceAccount")
		}
		for m, s := range spec.Subjects {
			at := fmt.Sprintf("%s.subjects[%d]", path, m)
			switch {
			case s.Cluster.Account.Clusters == nil || s.Cluster.Name == "":
				p.Add(at+".cluster", s.Cluster.Name, "a ServiceAccount is in a cluster, and a cluster in an account that can be asked about it", "refer to it by the account: account.Cluster(name)")
			case s.Cluster.Account.Provider != cloud.GCP:
				p.Add(at+".cluster", s.Cluster.Name, "a Google service account is taken on from GKE; the cluster is in "+s.Cluster.Account.String(), "give it an identity of its own cloud")
			case s.Pattern || strings.ContainsAny(s.Namespace+s.ServiceAccount, "*?"):
				p.Add(at, s.Namespace+"/"+s.ServiceAccount, "Google's workload identity knows no patterns", "name each namespace")
			case !kubeName.MatchString(s.Namespace) || !kubeName.MatchString(s.ServiceAccount):
				p.Add(at, s.Namespace+"/"+s.ServiceAccount, "a namespace and a ServiceAccount have names of lower-case letters, digits and hyphens", "use their names")
			}
		}
		for m, b := range spec.Buckets {
			if !bucketName.MatchString(b.Bucket) {
				p.Add(fmt.Sprintf("%s.buckets[%d]", path, m), b.Bucket, "a bucket has 3 to 222 lower-case letters, digits, dots, hyphens and underscores", "use the bucket's plain name")
			}
			if strings.ContainsFunc(b.Prefix, func(r rune) bool { return r < ' ' || strings.ContainsRune("*?\"\\`", r) }) || strings.HasPrefix(b.Prefix, "/") {
				p.Add(fmt.Sprintf("%s.buckets[%d].prefix", path, m), b.Prefix, "a prefix is the beginning of keys: it has no wildcards and does not begin with a slash", "use something like metadata/")
			}
			if b.KMSKey != "" {
				p.Add(fmt.Sprintf("%s.buckets[%d].kmsKey", path, m), b.KMSKey, "Cloud Storage uses its keys itself; identities need no right to them", "leave it out")
			}
		}
	}
	return p.Err("identities in " + i.Project)
}

// poolProbe tells which other clusters share the workload pool: it is the
// project's, so the same namespace and name in any of its clusters is the same
// identity.
func (i *identities) poolProbe(prefix string, specs []cloud.IdentitySpec) planewright.Probe {
	return planewright.Probe{ID: prefix + "/preflight/workload-pool", Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		answer, err := i.Container.ListClusters(ctx, &containerpb.ListClustersRequest{Parent: "projects/" + i.Project + "/locations/-"})
		if err = failure("container.clusters.list", planewright.Object{}, err); is(err, planewright.ErrDenied) {
			return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeSharedPool, Cause: "which clusters share the workload pool may not be asked: " + err.Error()}}, nil
		}
		if err != nil {
			return nil, err
		}
		var others []string
		for _, c := range answer.GetClusters() {
			named := slices.ContainsFunc(specs, func(spec cloud.IdentitySpec) bool {
				return slices.ContainsFunc(spec.Subjects, func(s cloud.Subject) bool {
					return s.Cluster.Name == c.GetName() && s.Cluster.Account.Location == c.GetLocation()
				})
			})
			if c.GetWorkloadIdentityConfig().GetWorkloadPool() != "" && !named {
				others = append(others, c.GetName()+" in "+c.GetLocation())
			}
		}
		if len(others) == 0 {
			return nil, nil
		}
		slices.Sort(others)
		return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeSharedPool,
			Cause: "ServiceAccounts of the same names in other clusters of project " + i.Project + " have the same identities: " + strings.Join(others, ", "),
			Fix:   "keep the clusters in a project of their own"}}, nil
	}}
}
