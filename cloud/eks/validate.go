package eks

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	policy "github.com/planewright/planewright/cloud/iam"
)

// The rules of tags, which EKS and IAM share.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_Tag.html
var (
	ownerName = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,256}$`)
	tagKey    = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$`)
	tagValue  = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$`)
)

// spareTags are what is left of the 50 tags of a resource for those of callers.
const spareTags = 40

// accountNumber is an account's id.
var accountNumber = regexp.MustCompile(`^[0-9]{12}$`)

// validateMade checks the account, and the options for what is made.
func (a *account) validateMade(p *planewright.Problems) {
	if !accountNumber.MatchString(a.AccountID) {
		p.Add("account", a.AccountID, "an account id has 12 digits", "set eks.Config's AccountID, or use eks.Open")
	}
	if a.Region == "" {
		p.Add("region", "", "clusters are in a region", "set eks.Config's Region, or use eks.Open")
	}
	if !slices.Contains([]IdentityMode{"", IRSA, PodIdentity, Hybrid}, a.mode) {
		p.Add("identityMode", string(a.mode), "there is no such mode", "use eks.IRSA, eks.PodIdentity or eks.Hybrid")
	}
	if !rolePath.MatchString(a.path) || len(a.path) > 512 {
		p.Add("path", a.path, "a path begins and ends with a slash, and has at most 512 characters", `use something like "/flyte/"`)
	}
	a.validatePolicy(p, "permissionsBoundary", a.boundary, "a permissions boundary is a managed policy, named by its ARN")
	validateTags(p, "tags", a.tags)
}

// validatePolicy checks the ARN of a managed policy, if there is one.
func (a *account) validatePolicy(p *planewright.Problems, path, text, rule string) {
	if text == "" {
		return
	}
	arn, err := policy.ParseARN(text)
	switch {
	case err != nil || arn.Service != "iam" || !strings.HasPrefix(arn.Resource, "policy/"):
		p.Add(path, text, rule, "use arn:PARTITION:iam::ACCOUNT:policy/NAME")
	case arn.Partition != a.Partition:
		p.Add(path, text, "the policy is in partition "+string(arn.Partition)+", the account in "+string(a.Partition), "use a policy of the same partition")
	}
}

// validateTags refuses tags that AWS does not take, and those that say whose
// something is: whoever set these would take it away from its stack.
func validateTags(p *planewright.Problems, path string, tags map[string]string) {
	if len(tags) > spareTags {
		p.Add(path, "", "a resource has at most 50 tags, of which ten are kept for our own", "leave some out")
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := path + "[" + key + "]"
		switch {
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			p.Add(at, tags[key], "tags that begin with aws: are AWS's own", "choose another key")
		case strings.HasPrefix(key, ownTagPrefix):
			p.Add(at, tags[key], "tags that begin with "+ownTagPrefix+" say whose a resource is", "choose another key")
		case !tagKey.MatchString(key), !tagValue.MatchString(tags[key]):
			p.Add(at, tags[key], "a tag's key has at most 128 and its value at most 256 letters, digits, spaces and any of _ . : / = + - @", "shorten or rename it")
		}
	}
}
