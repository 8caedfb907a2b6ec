package eksfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// serveS3 answers in S3's protocol: REST with XML, the bucket in the path.
func (f *Fake) serveS3(w http.ResponseWriter, r *http.Request) {
	buckets, name := f.S3(), aws.String(strings.Trim(r.URL.Path, "/"))
	var body string
	var err error
	switch query := r.URL.Query(); {
	case r.Method == http.MethodHead:
		var head *s3.HeadBucketOutput
		if head, err = buckets.HeadBucket(r.Context(), &s3.HeadBucketInput{Bucket: name}); err == nil {
			w.Header().Set("X-Amz-Bucket-Region", aws.ToString(head.BucketRegion))
		}
	case query.Has("publicAccessBlock"):
		var block *s3.GetPublicAccessBlockOutput
		if block, err = buckets.GetPublicAccessBlock(r.Context(), &s3.GetPublicAccessBlockInput{Bucket: name}); err == nil {
			c := block.PublicAccessBlockConfiguration
			body = fmt.Sprintf("<PublicAccessBlockConfiguration><BlockPublicAcls>%t</BlockPublicAcls><IgnorePublicAcls>%t</IgnorePublicAcls><BlockPublicPolicy>%t</BlockPublicPolicy><RestrictPublicBuckets>%t</RestrictPublicBuckets></PublicAccessBlockConfiguration>",
				aws.ToBool(c.BlockPublicAcls), aws.ToBool(c.IgnorePublicAcls), aws.ToBool(c.BlockPublicPolicy), aws.ToBool(c.RestrictPublicBuckets))
		}
	case query.Has("policyStatus"):
		var status *s3.GetBucketPolicyStatusOutput
		if status, err = buckets.GetBucketPolicyStatus(r.Context(), &s3.GetBucketPolicyStatusInput{Bucket: name}); err == nil {
			body = fmt.Sprintf("<PolicyStatus><IsPublic>%t</IsPublic></PolicyStatus>", aws.ToBool(status.PolicyStatus.IsPublic))
		}
	case query.Has("encryption"):
		var encryption *s3.GetBucketEncryptionOutput
		if encryption, err = buckets.GetBucketEncryption(r.Context(), &s3.GetBucketEncryptionInput{Bucket: name}); err == nil {
			by := encryption.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault
			key := ""
			if by.KMSMasterKeyID != nil {
				key = "<KMSMasterKeyID>" + escaped(*by.KMSMasterKeyID) + "</KMSMasterKeyID>"
			}
			body = fmt.Sprintf("<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>%s</SSEAlgorithm>%s</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>", by.SSEAlgorithm, key)
		}
	default:
		err = apiErrorOf(http.StatusNotImplemented, "NotImplemented", "%s %s", r.Method, r.URL)
	}
	w.Header().Set("Content-Type", "application/xml")
	if err != nil {
		status, code, message, ok := answered(err)
		if !ok {
			breakOff(w)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", escaped(code), escaped(message))
		return
	}
	fmt.Fprint(w, body)
}

// serveKMS answers in KMS's protocol: JSON, the operation in a header.
func (f *Fake) serveKMS(w http.ResponseWriter, r *http.Request) {
	var in struct{ KeyId string } //nolint:revive // the protocol's name
	err := json.NewDecoder(r.Body).Decode(&in)
	var key *kms.DescribeKeyOutput
	if err == nil {
		key, err = f.KMS().DescribeKey(r.Context(), &kms.DescribeKeyInput{KeyId: aws.String(in.KeyId)})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if err != nil {
		status, code, message, ok := answered(err)
		if !ok {
			breakOff(w)
			return
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"KeyMetadata": map[string]any{
		"Arn": aws.ToString(key.KeyMetadata.Arn), "KeyId": aws.ToString(key.KeyMetadata.KeyId), "KeyState": key.KeyMetadata.KeyState}})
}
