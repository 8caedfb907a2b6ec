package iam_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPoliciesForBuckets(t *testing.T) {
	const key = "arn:aws:kms:us-east-1:123456789012:key/1234"
	const objects = `"Action":["s3:AbortMultipartUpload","s3:DeleteObject","s3:GetObject","s3:ListMultipartUploadParts","s3:PutObject"]`
	for name, c := range map[string]struct {
		policy iam.Policy
		want   string
	}{
		"a bucket": {iam.NewPolicy().WithBuckets(iam.NewBucket("acme-flyte")),
			`{"Effect":"Allow","Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":"arn:aws:s3:::acme-flyte"},` +
				`{"Effect":"Allow",` + objects + `,"Resource":"arn:aws:s3:::acme-flyte/*"}`},
		"two buckets and their key": {iam.NewPolicy().WithBuckets(iam.NewBucket("acme-meta").WithKMSKey(key), iam.NewBucket("acme-data").WithKMSKey(key)),
			`{"Effect":"Allow","Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":["arn:aws:s3:::acme-data","arn:aws:s3:::acme-meta"]},` +
				`{"Effect":"Allow",` + objects + `,"Resource":["arn:aws:s3:::acme-data/*","arn:aws:s3:::acme-meta/*"]},` +
				`{"Effect":"Allow","Action":["kms:Decrypt","kms:GenerateDataKey"],"Resource":"` + key + `"}`},
		"a part of a bucket, in China, to read": {iam.NewPolicy().WithPartition(iam.China).WithBuckets(iam.NewBucket("acme-models").WithPrefix("models/").ReadOnly()),
			`{"Effect":"Allow","Action":"s3:GetBucketLocation","Resource":"arn:aws-cn:s3:::acme-models"},` +
				`{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws-cn:s3:::acme-models","Condition":{"StringLike":{"s3:prefix":"models/*"}}},` +
				`{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws-cn:s3:::acme-models/models/*"}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := c.policy.Document()
			require.NoError(t, err)
			assert.Equal(t, `{"Version":"2012-10-17","Statement":[`+c.want+`]}`, d.String())
		})
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	for want, policy := range map[string]iam.Policy{
		"a policy allows something":                         iam.NewPolicy(),
		"there is no such partition":                        iam.NewPolicy().WithPartition("aws-gov").WithBuckets(iam.NewBucket("acme-flyte")),
		"a bucket has 3 to 63":                              iam.NewPolicy().WithBuckets(iam.NewBucket("acme-flyte*")),
		"it has no wildcards":                               iam.NewPolicy().WithBuckets(iam.NewBucket("acme-flyte").WithPrefix("*")),
		"an alias means nothing in a policy":                iam.NewPolicy().WithBuckets(iam.NewBucket("acme-flyte").WithKMSKey("alias/flyte")),
		"the key is in partition aws, the policy in aws-cn": iam.NewPolicy().WithPartition(iam.China).WithBuckets(iam.NewBucket("acme-flyte").WithKMSKey("arn:aws:kms:us-east-1:123456789012:key/1")),
	} {
		_, err := policy.Document()
		require.ErrorIs(t, err, planewright.ErrInvalid)
		assert.ErrorContains(t, err, want)
	}
}
