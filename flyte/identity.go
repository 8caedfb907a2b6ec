package flyte

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Identity is the cloud identity of a ServiceAccount's pods, as the
// annotations that the cloud's workload identity reads. [NewIdentity] is one
// that the deployment makes. [AWSRole], [GCPServiceAccount] and [Annotations]
// are ones that exist, with their trust in the ServiceAccount.
type Identity struct {
	kind, value string
	annotations map[string]string
	made        madeIdentity
}

const (
	identityAWS = "AWS role"
	identityGCP = "Google service account"
	identityRaw = "annotations"
	identityNew = "new identity"
	identityOff = "the node's identity"

	awsRoleAnnotation = "eks.amazonaws.com/role-arn"
	gcpAnnotation     = "iam.gke.io/gcp-service-account"
)

// AWSRole lets pods assume an IAM role: "arn:aws:iam::123456789012:role/flyte".
// The role must trust the ServiceAccount, see [Deployment.ServiceAccount].
func AWSRole(arn string) Identity {
	return Identity{kind: identityAWS, value: arn, annotations: map[string]string{awsRoleAnnotation: arn}}
}

// GCPServiceAccount lets pods act as a Google service account:
// "flyte@acme-ml.iam.gserviceaccount.com". It must allow the Kubernetes
// ServiceAccount to use it.
func GCPServiceAccount(email string) Identity {
	return Identity{kind: identityGCP, value: email, annotations: map[string]string{gcpAnnotation: email}}
}

// Annotations is an identity of another cloud, or one with further
// annotations ("eks.amazonaws.com/audience").
func Annotations(annotations map[string]string) Identity {
	return Identity{kind: identityRaw, annotations: maps.Clone(annotations)}
}

// NodeIdentity leaves pods with the cloud identity of their node, also where a
// deployment would make one by default.
func NodeIdentity() Identity { return Identity{kind: identityOff} }

// IsZero reports whether there is no identity.
func (i Identity) IsZero() bool { return i.kind == "" }

// String names the identity.
func (i Identity) String() string {
	switch i.kind {
	case "":
		return "no identity"
	case identityRaw:
		return "annotations " + strings.Join(slices.Sorted(maps.Keys(i.annotations)), ", ")
	}
	return i.kind + " " + i.value
}

// partition is the AWS partition of a role, empty if it is none.
func (i Identity) partition() string {
	if m := awsRoleARN.FindStringSubmatch(i.value); i.kind == identityAWS && m != nil {
		return m[1]
	}
	return ""
}

var (
	awsRoleARN = regexp.MustCompile(`^arn:(aws[a-z-]*):iam::[0-9]{12}:role/(?:[!-~]+/)?[A-Za-z0-9+=,.@_-]{1,64}$`)
	gcpEmail   = regexp.MustCompile(`^[a-z0-9-]+@[a-z0-9.-]+\.gserviceaccount\.com$`)
)

func (i Identity) validate(p *planewright.Problems, path string) {
	if found := placeholderIn(i.value); found != "" {
		p.Add(path, i.value, "the placeholder "+found+" stands where a real value belongs", "put in the value")
		return
	}
	if i.kind != identityNew && !i.made.isZero() {
		p.Add(path, i.String(), "what an identity trusts and may do is said of one that the deployment makes", "make it with NewIdentity, or leave its With methods out")
	}
	switch i.kind {
	case identityNew:
		i.made.validate(p, path, i.value)
	case identityAWS:
		if !awsRoleARN.MatchString(i.value) {
			p.Add(path, i.value, "an IAM role is arn:PARTITION:iam::ACCOUNT:role/NAME with a 12-digit account", "use the role's ARN")
		}
	case identityGCP:
		if !gcpEmail.MatchString(i.value) {
			p.Add(path, i.value, "a Google service account is an e-mail address that ends in gserviceaccount.com", "use the service account's e-mail")
		}
	case identityRaw:
		for _, key := range slices.Sorted(maps.Keys(i.annotations)) {
			if errs := validation.IsQualifiedName(strings.ToLower(key)); len(errs) > 0 {
				p.Add(path, key, "an annotation's key is a qualified name", "use a key like eks.amazonaws.com/role-arn")
			}
			if found := placeholderIn(i.annotations[key]); found != "" {
				p.Add(path+"."+key, i.annotations[key], "the placeholder "+found+" stands where a real value belongs", "put in the value")
			}
		}
	}
}

// awsPartition returns the AWS partition of a region.
func awsPartition(region string) string {
	for prefix, partition := range map[string]string{
		"cn-":      "aws-cn",
		"us-gov-":  "aws-us-gov",
		"us-iso-":  "aws-iso",
		"us-isob-": "aws-iso-b",
		"us-isof-": "aws-iso-f",
		"eu-isoe-": "aws-iso-e",
		"eusc-":    "aws-eusc",
	} {
		if strings.HasPrefix(region, prefix) {
			return partition
		}
	}
	return "aws"
}
