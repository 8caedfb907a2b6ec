package eksfake

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/planewright/planewright/cloud/eks"
)

// Bucket is a bucket of S3.
type Bucket struct {
	Name string
	// Region is that of the account, if it is empty.
	Region string
	// Owner is the account, if it is empty. One of another account is not to be asked about.
	Owner string
	// Public says that its policy opens it, Open that nothing keeps it from being opened.
	Public, Open bool
	// KMSKey is the ARN of the key it is encrypted with.
	KMSKey string
}

// PutBucket puts a bucket there.
func (f *Fake) PutBucket(b Bucket) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.Region == "" {
		b.Region = f.region
	}
	if b.Owner == "" {
		b.Owner = f.account
	}
	f.buckets[b.Name] = b
}

// PutKey puts a key of KMS there, by its ARN.
func (f *Fake) PutKey(arn string, enabled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[arn] = enabled
}

func apiErrorOf(status int, code, format string, args ...any) error {
	return apiError{status, &smithy.GenericAPIError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// S3 returns the account's S3.
func (f *Fake) S3() eks.S3 { return &s3Fake{f} }

type s3Fake struct{ *Fake }

// bucket finds a bucket that may be asked about.
func (f *s3Fake) bucket(name *string) (Bucket, error) {
	b, ok := f.buckets[aws.ToString(name)]
	switch {
	case !ok:
		return b, apiErrorOf(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	case b.Owner != f.account:
		return b, apiErrorOf(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	return b, nil
}

// HeadBucket implements eks.S3.
func (f *s3Fake) HeadBucket(ctx context.Context, in *s3.HeadBucketInput, _ ...func(*s3.Options)) (*s3.HeadBucketOutput, error) {
	return do(ctx, f.Fake, call{"s3:HeadBucket", aws.ToString(in.Bucket), false}, func() (*s3.HeadBucketOutput, error) {
		b, ok := f.buckets[aws.ToString(in.Bucket)]
		switch { // a HEAD has no body, so no message either
		case !ok:
			return nil, apiErrorOf(http.StatusNotFound, "NotFound", "Not Found")
		case b.Owner != f.account:
			return nil, apiErrorOf(http.StatusForbidden, "Forbidden", "Forbidden")
		}
		return &s3.HeadBucketOutput{BucketRegion: aws.String(b.Region)}, nil
	})
}

// GetPublicAccessBlock implements eks.S3.
func (f *s3Fake) GetPublicAccessBlock(ctx context.Context, in *s3.GetPublicAccessBlockInput, _ ...func(*s3.Options)) (*s3.GetPublicAccessBlockOutput, error) {
	return do(ctx, f.Fake, call{"s3:GetPublicAccessBlock", aws.ToString(in.Bucket), false}, func() (*s3.GetPublicAccessBlockOutput, error) {
		b, err := f.bucket(in.Bucket)
		switch {
		case err != nil:
			return nil, err
		case b.Open:
			return nil, apiErrorOf(http.StatusNotFound, "NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found")
		}
		yes := aws.Bool(true)
		return &s3.GetPublicAccessBlockOutput{PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: yes, BlockPublicPolicy: yes, IgnorePublicAcls: yes, RestrictPublicBuckets: yes}}, nil
	})
}

// GetBucketPolicyStatus implements eks.S3.
func (f *s3Fake) GetBucketPolicyStatus(ctx context.Context, in *s3.GetBucketPolicyStatusInput, _ ...func(*s3.Options)) (*s3.GetBucketPolicyStatusOutput, error) {
	return do(ctx, f.Fake, call{"s3:GetBucketPolicyStatus", aws.ToString(in.Bucket), false}, func() (*s3.GetBucketPolicyStatusOutput, error) {
		b, err := f.bucket(in.Bucket)
		switch {
		case err != nil:
			return nil, err
		case !b.Public:
			return nil, apiErrorOf(http.StatusNotFound, "NoSuchBucketPolicy", "The bucket policy does not exist")
		}
		return &s3.GetBucketPolicyStatusOutput{PolicyStatus: &types.PolicyStatus{IsPublic: aws.Bool(true)}}, nil
	})
}

// GetBucketEncryption implements eks.S3.
func (f *s3Fake) GetBucketEncryption(ctx context.Context, in *s3.GetBucketEncryptionInput, _ ...func(*s3.Options)) (*s3.GetBucketEncryptionOutput, error) {
	return do(ctx, f.Fake, call{"s3:GetBucketEncryption", aws.ToString(in.Bucket), false}, func() (*s3.GetBucketEncryptionOutput, error) {
		b, err := f.bucket(in.Bucket)
		if err != nil {
			return nil, err
		}
		by := &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAes256}
		if b.KMSKey != "" {
			by = &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms, KMSMasterKeyID: aws.String(b.KMSKey)}
		}
		return &s3.GetBucketEncryptionOutput{ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{ApplyServerSideEncryptionByDefault: by}}}}, nil
	})
}

// KMS returns the account's KMS.
func (f *Fake) KMS() eks.KMS { return &kmsFake{f} }

type kmsFake struct{ *Fake }

// DescribeKey implements eks.KMS.
func (f *kmsFake) DescribeKey(ctx context.Context, in *kms.DescribeKeyInput, _ ...func(*kms.Options)) (*kms.DescribeKeyOutput, error) {
	id := aws.ToString(in.KeyId)
	return do(ctx, f.Fake, call{"kms:DescribeKey", id, false}, func() (*kms.DescribeKeyOutput, error) {
		enabled, ok := f.keys[id]
		if !ok {
			return nil, apiErrorOf(http.StatusBadRequest, "NotFoundException", "Key '%s' does not exist", id)
		}
		state := kmstypes.KeyStateDisabled
		if enabled {
			state = kmstypes.KeyStateEnabled
		}
		return &kms.DescribeKeyOutput{KeyMetadata: &kmstypes.KeyMetadata{Arn: aws.String(id), KeyState: state, KeyId: aws.String(id)}}, nil
	})
}
