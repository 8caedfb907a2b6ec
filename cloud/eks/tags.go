package eks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// The tags of what this package makes.
const (
	// OwnerTag holds the stack that made a resource.
	OwnerTag = "planewright.dev/stack"
	// AdoptedTag marks a role or policy that was there before: it is not
	// deleted with the stack.
	AdoptedTag = "planewright.dev/adopted"
	// trustTag remembers the OIDC providers whose statements in a role's trust
	// policy are ours alone, so that they can be taken out when a cluster
	// leaves. Statements themselves carry no mark: it would cost characters
	// of a short quota. More than one tag's worth goes into trustTag-2 and so on.
	trustTag = "planewright.dev/trusts"
)

// ownTagPrefix begins all of them.
const ownTagPrefix = "planewright.dev/"

// maxTagValue is the longest value of a tag.
const maxTagValue = 256

// tagMap reads tags.
func tagMap(tags []types.Tag) map[string]string {
	m := map[string]string{}
	for _, t := range tags {
		m[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return m
}

func tagList(tags map[string]string) []types.Tag {
	var list []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

// ownTags are the tags of what a stack makes.
func (a *account) ownTags(owner string) map[string]string {
	tags := map[string]string{OwnerTag: owner}
	maps.Copy(tags, a.tags)
	return tags
}

// trustMark stands for an OIDC provider in a tag.
func trustMark(providerARN string) string {
	sum := sha256.Sum256([]byte(providerARN))
	return hex.EncodeToString(sum[:6])
}

// trustMarks reads which providers a role's tags remember.
func trustMarks(tags map[string]string) map[string]bool {
	marks := map[string]bool{}
	for key, value := range tags {
		if key == trustTag || strings.HasPrefix(key, trustTag+"-") {
			for _, mark := range strings.Fields(value) {
				marks[mark] = true
			}
		}
	}
	return marks
}

// trustTags writes them down.
func trustTags(marks map[string]bool) map[string]string {
	tags := map[string]string{}
	n, line := 1, ""
	put := func() {
		key := trustTag
		if n > 1 {
			key = fmt.Sprintf("%s-%d", trustTag, n)
		}
		tags[key] = line
		n, line = n+1, ""
	}
	for _, mark := range slices.Sorted(maps.Keys(marks)) {
		if len(line)+1+len(mark) > maxTagValue {
			put()
		}
		line = strings.TrimSpace(line + " " + mark)
	}
	if line != "" {
		put()
	}
	return tags
}

// isTrustTag reports whether a tag is one that trustTags writes.
func isTrustTag(key string) bool { return key == trustTag || strings.HasPrefix(key, trustTag+"-") }

// provisioner names the tool that a resource's tags say it belongs to, empty for none.
func provisioner(tags map[string]string) string {
	switch {
	case tags["alpha.eksctl.io/cluster-name"] != "":
		return "eksctl (cluster " + tags["alpha.eksctl.io/cluster-name"] + ")"
	case tags["aws:cloudformation:stack-name"] != "":
		return "the CloudFormation stack " + tags["aws:cloudformation:stack-name"]
	}
	return ""
}
