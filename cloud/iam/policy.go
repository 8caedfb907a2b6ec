package iam

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// Policy is what an identity may do in object storage, and no more. It is a
// value; its methods return changed copies.
type Policy struct {
	partition Partition
	buckets   []Bucket
}

// NewPolicy allows nothing yet, in the partition aws.
func NewPolicy() Policy { return Policy{partition: AWS} }

// WithPartition sets the partition whose ARNs the policy names.
func (p Policy) WithPartition(partition Partition) Policy {
	p.partition = partition
	return p
}

// WithBuckets adds buckets.
func (p Policy) WithBuckets(buckets ...Bucket) Policy {
	p.buckets = append(slices.Clip(p.buckets), buckets...)
	return p
}

// Bucket is access to a bucket of S3, or to a part of it.
type Bucket struct {
	name, prefix, key string
	readOnly          bool
}

// NewBucket is reading, writing and deleting objects in a bucket, and listing it.
func NewBucket(name string) Bucket { return Bucket{name: name} }

// WithPrefix restricts it to the objects whose keys begin so: "metadata/".
func (b Bucket) WithPrefix(prefix string) Bucket {
	b.prefix = prefix
	return b
}

// WithKMSKey allows to use the customer's key (its ARN) that the bucket is encrypted with.
func (b Bucket) WithKMSKey(arn string) Bucket {
	b.key = arn
	return b
}

// ReadOnly allows reading and listing alone.
func (b Bucket) ReadOnly() Bucket {
	b.readOnly = true
	return b
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// Validate reports everything that is wrong with the policy, as a
// [*planewright.ValidationError].
func (p Policy) Validate() error {
	var problems planewright.Problems
	if !p.partition.known() {
		problems.Add("partition", string(p.partition), "there is no such partition of AWS", "take it from the cluster's ARN")
	}
	if len(p.buckets) == 0 {
		problems.Add("buckets", "", "a policy allows something", "use WithBuckets")
	}
	for i, b := range p.buckets {
		path := fmt.Sprintf("buckets[%d]", i)
		if !bucketName.MatchString(b.name) {
			problems.Add(path+".name", b.name, "a bucket has 3 to 63 lower-case letters, digits, dots and hyphens", "use the bucket's plain name")
		}
		if strings.ContainsAny(b.prefix, "*?$\"\\") || strings.HasPrefix(b.prefix, "/") {
			problems.Add(path+".prefix", b.prefix, "a prefix is the beginning of keys: it has no wildcards and does not begin with a slash", "use something like metadata/")
		}
		if b.key == "" {
			continue
		}
		switch arn, err := ParseARN(b.key); {
		case err != nil || arn.Service != "kms" || !strings.HasPrefix(arn.Resource, "key/"):
			problems.Add(path+".kmsKey", b.key, "a key is named by its ARN, since an alias means nothing in a policy", "use arn:PARTITION:kms:REGION:ACCOUNT:key/ID")
		case arn.Partition != p.partition:
			problems.Add(path+".kmsKey", b.key, fmt.Sprintf("the key is in partition %s, the policy in %s", arn.Partition, p.partition), "use a key of the same partition")
		}
	}
	return problems.Err("policy")
}

// Document is the policy as a document. Buckets with the same rights share
// statements. The bucket and its objects are named apart: "BUCKET*" would also
// mean every bucket whose name begins so.
func (p Policy) Document() (Document, error) {
	if err := p.Validate(); err != nil {
		return Document{}, err
	}
	var clauses []clause
	add := func(c clause) {
		for i, have := range clauses {
			if slices.Equal(have.actions, c.actions) && slices.EqualFunc(have.conditions, c.conditions, func(a, b condition) bool {
				return a.operator == b.operator && a.key == b.key && slices.Equal(a.values, b.values)
			}) {
				clauses[i].resources = append(have.resources, c.resources...)
				return
			}
		}
		clauses = append(clauses, c)
	}
	for _, b := range p.buckets {
		for _, c := range b.clauses(p.partition) {
			add(c)
		}
	}
	statements := make([]Statement, len(clauses))
	for i, c := range clauses {
		statements[i] = c.statement()
	}
	return newDocument(statements...), nil
}

func (b Bucket) clauses(partition Partition) []clause {
	bucket := ARN{Partition: partition, Service: "s3", Resource: b.name}.String()
	var clauses []clause
	if b.prefix == "" {
		clauses = append(clauses, clause{actions: []string{"s3:GetBucketLocation", "s3:ListBucket"}, resources: []string{bucket}})
	} else {
		clauses = append(clauses,
			// Asking for the region carries no prefix.
			clause{actions: []string{"s3:GetBucketLocation"}, resources: []string{bucket}},
			clause{actions: []string{"s3:ListBucket"}, resources: []string{bucket},
				conditions: []condition{{"StringLike", "s3:prefix", []string{b.prefix + "*"}}}})
	}
	objects := []string{"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"}
	use := []string{"kms:Decrypt", "kms:GenerateDataKey"}
	if b.readOnly {
		objects, use = []string{"s3:GetObject"}, []string{"kms:Decrypt"}
	}
	clauses = append(clauses, clause{actions: objects, resources: []string{bucket + "/" + b.prefix + "*"}})
	if b.key != "" {
		clauses = append(clauses, clause{actions: use, resources: []string{b.key}})
	}
	return clauses
}
