package iam

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/planewright/planewright"
)

// ARN is the name of a resource of AWS, in its parts.
type ARN struct {
	Partition Partition
	// Service is "iam", "eks", "s3".
	Service string
	// Region and AccountID are empty where the service's names have none.
	Region, AccountID string
	// Resource is the rest, with its type: "role/flyte", "cluster/main".
	Resource string
}

var accountID = regexp.MustCompile(`^[0-9]{12}$`)

// ParseARN takes an ARN apart. The error matches planewright.ErrInvalid and
// says which part is wrong.
func ParseARN(text string) (ARN, error) {
	fail := func(rule string) (ARN, error) {
		return ARN{}, fmt.Errorf("%q is no ARN: %s: %w", text, rule, planewright.ErrInvalid)
	}
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" {
		return fail("it has the form arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE")
	}
	a := ARN{Partition: Partition(parts[1]), Service: parts[2], Region: parts[3], AccountID: parts[4], Resource: parts[5]}
	switch {
	case a.Partition == "aws-gov":
		return fail(`the partition of GovCloud is "aws-us-gov"`)
	case !a.Partition.known():
		return fail(fmt.Sprintf("there is no partition %q", parts[1]))
	case a.Service == "":
		return fail("it names no service")
	case a.AccountID != "" && a.AccountID != "aws" && !accountID.MatchString(a.AccountID):
		return fail("an account id has 12 digits")
	case a.Resource == "":
		return fail("it names no resource")
	case strings.ContainsAny(text, " \t\n\"\\"):
		return fail("it holds a character that no ARN has")
	}
	return a, nil
}

// String is the ARN as AWS writes it.
func (a ARN) String() string {
	return strings.Join([]string{"arn", string(a.Partition), a.Service, a.Region, a.AccountID, a.Resource}, ":")
}

// RoleARN is the ARN of a role. The path is "/" or "/a/b/"; empty means "/".
func RoleARN(partition Partition, account, path, name string) string {
	return named(partition, account, "role", path, name)
}

// PolicyARN is the ARN of a managed policy. For one of AWS's own the account is "aws".
func PolicyARN(partition Partition, account, path, name string) string {
	return named(partition, account, "policy", path, name)
}

func named(partition Partition, account, kind, path, name string) string {
	if path == "" {
		path = "/"
	}
	return ARN{Partition: partition, Service: "iam", AccountID: account, Resource: kind + path + name}.String()
}
