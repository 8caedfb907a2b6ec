package eksfake

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"github.com/planewright/planewright/cloud/eks"
	policy "github.com/planewright/planewright/cloud/iam"
)

// IAM returns the account's IAM.
func (f *Fake) IAM() eks.IAM { return &iamFake{f} }

// iamFake implements eks.IAM.
type iamFake struct{ *Fake }

// The answers of IAM that are errors, with its own codes and texts.
func noSuchEntity(format string, args ...any) error {
	return apiError{http.StatusNotFound, &types.NoSuchEntityException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func alreadyExists(format string, args ...any) error {
	return apiError{http.StatusConflict, &types.EntityAlreadyExistsException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func limitExceeded(format string, args ...any) error {
	return apiError{http.StatusConflict, &types.LimitExceededException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func deleteConflict(message string) error {
	return apiError{http.StatusConflict, &types.DeleteConflictException{Message: aws.String(message)}}
}

func malformed(format string, args ...any) error {
	return apiError{http.StatusBadRequest, &types.MalformedPolicyDocumentException{Message: aws.String(fmt.Sprintf(format, args...))}}
}

func invalid(format string, args ...any) error {
	return apiError{http.StatusBadRequest, &smithy.GenericAPIError{Code: "ValidationError", Message: fmt.Sprintf(format, args...)}}
}

// encode writes a document as IAM returns it: percent-encoded, spaces as %20.
func encode(document string) *string {
	return aws.String(strings.ReplaceAll(url.QueryEscape(document), "+", "%20"))
}

func tagsFor(tags map[string]string) []types.Tag {
	var list []types.Tag
	for key, value := range tags {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return list
}

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// maxTags is how many tags an object of IAM has at most.
const maxTags = 50

// tagged adds tags, and checks them as IAM does.
func tagged(have map[string]string, more []types.Tag) (map[string]string, error) {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	for _, t := range more {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		switch {
		case key == "" || len(key) > 128 || !tagText.MatchString(key) || strings.HasPrefix(strings.ToLower(key), "aws:"):
			return nil, invalid("1 validation error detected: Value at 'tags' failed to satisfy constraint: key %q", key)
		case len(value) > 256 || !tagText.MatchString(value):
			return nil, invalid("1 validation error detected: Value at 'tags' failed to satisfy constraint: value of %q", key)
		}
		all[key] = value
	}
	if len(all) > maxTags {
		return nil, limitExceeded("Cannot exceed quota for TagsPerEntity: %d", maxTags)
	}
	return all, nil
}

// document checks a policy document as IAM does, against a quota. A trust
// policy names principals and no resources, another the other way round.
func (f *Fake) document(text string, trust bool, quota, quotaName string) error {
	d, err := policy.ParseDocument(text)
	switch {
	case err != nil || strings.HasPrefix(strings.TrimSpace(text), "%"):
		return malformed("This policy contains invalid Json")
	case d.IsEmpty():
		return malformed("Syntax errors in policy.")
	case d.Size() > int(f.quotas[quota]):
		return limitExceeded("Cannot exceed quota for %s: %d", quotaName, f.quotas[quota])
	}
	if deleted := d.DeletedPrincipals(); len(deleted) > 0 {
		return malformed(`Invalid principal in policy: "AWS":"%s"`, deleted[0].ID)
	}
	for _, s := range d.Statements() {
		raw := s.String()
		switch {
		case trust && !strings.Contains(raw, `rincipal"`):
			return malformed("Missing required field Principal")
		case trust && strings.Contains(raw, `"Resource"`):
			return malformed("Has prohibited field Resource")
		case !trust && strings.Contains(raw, `rincipal"`):
			return malformed("Policy document should not specify a principal.")
		case !trust && !strings.Contains(raw, `Resource"`):
			return malformed("Policy statement must contain resources.")
		}
	}
	if trust {
		return f.principals(text)
	}
	return nil
}

var (
	roleInPolicy     = regexp.MustCompile(`arn:(aws[a-z-]*):iam::([0-9]{12}):role/([A-Za-z0-9+=,.@_/-]+)`)
	providerInPolicy = regexp.MustCompile(`arn:(aws[a-z-]*):iam::([0-9]{12}):oidc-provider/`)
	anyPartition     = regexp.MustCompile(`arn:(aws[a-z-]*):`)
)

// principals refuses principals that do not exist, and ARNs of another partition.
func (f *Fake) principals(text string) error {
	for _, m := range anyPartition.FindAllStringSubmatch(text, -1) {
		if m[1] != string(f.partition) {
			return malformed(`Partition "%s" is not valid for resource "%s".`, m[1], m[0])
		}
	}
	for _, m := range providerInPolicy.FindAllStringSubmatch(text, -1) {
		if m[2] != f.account {
			return malformed("Federated principals must be valid domain names or SAML metadata ARNs of the role's account")
		}
	}
	for _, m := range roleInPolicy.FindAllStringSubmatch(text, -1) {
		if !f.hasRole(m[2], m[3][strings.LastIndex(m[3], "/")+1:]) {
			return malformed(`Invalid principal in policy: "AWS":"%s"`, m[0])
		}
	}
	return nil
}

// hasRole looks in this account and in those that it knows. An account that
// nobody has introduced is not looked into.
func (f *Fake) hasRole(account, name string) bool {
	if account == f.account {
		return current(f.roles, strings.ToLower(name)) != nil
	}
	for _, peer := range f.peers {
		if peer.account == account {
			peer.mu.Lock()
			defer peer.mu.Unlock()
			return current(peer.roles, strings.ToLower(name)) != nil
		}
	}
	return true
}
