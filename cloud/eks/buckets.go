package eks

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// buckets implements cloud.Buckets with S3 and KMS.
type buckets struct{ *account }

func bucketObject(name string) planewright.Object {
	return planewright.Object{APIVersion: "s3", Kind: "Bucket", Name: name}
}

// Describe implements [cloud.Buckets].
func (b *buckets) Describe(ctx context.Context, name string) (cloud.Bucket, error) {
	if b.S3 == nil {
		return cloud.Bucket{}, fmt.Errorf("bucket %s: the account has no client for S3: %w", name, planewright.ErrUnsupported)
	}
	bucket := cloud.Bucket{Name: name, Unknown: map[string]string{}}
	head, err := b.S3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(name), ExpectedBucketOwner: aws.String(b.AccountID)})
	switch err = failure("s3:HeadBucket", bucketObject(name), err); {
	case err == nil:
		bucket.Ours, bucket.OwnedBy = true, b.AccountID
	case is(err, planewright.ErrDenied):
		// Another account's, perhaps: S3 says no more.
		if head, err = b.S3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(name)}); err != nil {
			return cloud.Bucket{}, failure("s3:HeadBucket", bucketObject(name), err)
		}
		bucket.OwnedBy = "another account"
	default:
		return cloud.Bucket{}, err
	}
	if bucket.Location = aws.ToString(head.BucketRegion); bucket.Location == "" {
		bucket.Location = b.Region
	}
	b.publicity(ctx, &bucket)
	b.encryption(ctx, &bucket)
	if len(bucket.Unknown) == 0 {
		bucket.Unknown = nil
	}
	return bucket, nil
}

// inRegion asks S3 in the bucket's own region; elsewhere it would redirect.
func inRegion(bucket *cloud.Bucket) func(*s3.Options) {
	return func(o *s3.Options) { o.Region = bucket.Location }
}

func (b *buckets) publicity(ctx context.Context, bucket *cloud.Bucket) {
	block, err := b.S3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: aws.String(bucket.Name)}, inRegion(bucket))
	switch err = failure("s3:GetPublicAccessBlock", bucketObject(bucket.Name), err); {
	case err == nil && block.PublicAccessBlockConfiguration != nil:
		c := block.PublicAccessBlockConfiguration
		bucket.PublicAccessBlocked = aws.ToBool(c.BlockPublicAcls) && aws.ToBool(c.BlockPublicPolicy) && aws.ToBool(c.IgnorePublicAcls) && aws.ToBool(c.RestrictPublicBuckets)
	case err != nil && !is(err, planewright.ErrNotFound):
		bucket.Unknown["PublicAccessBlocked"] = "whether public access is blocked may not be asked: " + err.Error()
	}
	status, err := b.S3.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: aws.String(bucket.Name)}, inRegion(bucket))
	switch err = failure("s3:GetBucketPolicyStatus", bucketObject(bucket.Name), err); {
	case err == nil && status.PolicyStatus != nil:
		bucket.Public = aws.ToBool(status.PolicyStatus.IsPublic)
	case err != nil && !is(err, planewright.ErrNotFound):
		bucket.Unknown["Public"] = "whether its policy opens it may not be asked: " + err.Error()
	}
}

func (b *buckets) encryption(ctx context.Context, bucket *cloud.Bucket) {
	encryption, err := b.S3.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: aws.String(bucket.Name)}, inRegion(bucket))
	if err = failure("s3:GetBucketEncryption", bucketObject(bucket.Name), err); is(err, planewright.ErrNotFound) {
		return
	}
	if err != nil {
		bucket.Unknown["KMSKey"] = "how it is encrypted may not be asked: " + err.Error()
		return
	}
	if encryption.ServerSideEncryptionConfiguration == nil {
		return
	}
	for _, rule := range encryption.ServerSideEncryptionConfiguration.Rules {
		by := rule.ApplyServerSideEncryptionByDefault
		if by != nil && (by.SSEAlgorithm == types.ServerSideEncryptionAwsKms || by.SSEAlgorithm == types.ServerSideEncryptionAwsKmsDsse) {
			bucket.KMSKey = aws.ToString(by.KMSMasterKeyID)
		}
	}
	if bucket.KMSKey == "" {
		return
	}
	if b.KMS == nil {
		bucket.Unknown["KMSKeyUsable"] = "the account has no client for KMS"
		return
	}
	key, err := b.KMS.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(bucket.KMSKey)}, func(o *kms.Options) { o.Region = bucket.Location })
	if err != nil {
		bucket.Unknown["KMSKeyUsable"] = "its key may not be looked at: " + failure("kms:DescribeKey", planewright.Object{APIVersion: "kms", Kind: "Key", Name: bucket.KMSKey}, err).Error()
		return
	}
	if key.KeyMetadata != nil {
		bucket.KMSKeyUsable = key.KeyMetadata.KeyState == kmstypes.KeyStateEnabled
		// Policies name keys by their ARN, whatever the bucket calls it.
		bucket.KMSKey = aws.ToString(key.KeyMetadata.Arn)
	}
}
