package cloud_test

import (
	"context"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buckets is a port that knows some buckets by heart.
type buckets map[string]cloud.Bucket

func (b buckets) Describe(_ context.Context, name string) (cloud.Bucket, error) {
	bucket, ok := b[name]
	if !ok {
		return cloud.Bucket{}, &cloud.CallError{Operation: "s3:HeadBucket", Code: "NotFound", Message: "Not Found", Kind: planewright.ErrNotFound}
	}
	if bucket.Name == "" {
		return cloud.Bucket{}, &cloud.CallError{Operation: "s3:HeadBucket", Code: "Forbidden", Message: "Forbidden", Kind: planewright.ErrDenied}
	}
	return bucket, nil
}

func good() cloud.Bucket {
	return cloud.Bucket{Name: "acme-flyte", Location: "us-east-1", OwnedBy: "123456789012", Ours: true, PublicAccessBlocked: true}
}

func TestBucketsArePresupposed(t *testing.T) {
	const key = "arn:aws:kms:us-east-1:123456789012:key/1"
	for name, test := range map[string]struct {
		bucket   func(*cloud.Bucket)
		need     cloud.BucketNeed
		provider cloud.Provider
		want     []string
	}{
		"as it must be": {},
		"not there": {need: cloud.BucketNeed{Name: "acme-flite"}, want: []string{
			"error [bucket-missing] Bucket acme-flite: the bucket does not exist; fix: create it in us-east-1, or name one that is there"}},
		"may not be looked at": {bucket: func(b *cloud.Bucket) { *b = cloud.Bucket{} }, want: []string{
			"unprobed [bucket-unprobed] Bucket acme-flyte: the bucket is another account's, or may not be looked at: s3:HeadBucket: Forbidden: Forbidden"}},
		"another account's": {bucket: func(b *cloud.Bucket) { b.Ours, b.OwnedBy = false, "999999999999" }, want: []string{
			"warning [bucket-owner] Bucket acme-flyte: the bucket is owned by 999999999999, not by aws account 123456789012 in us-east-1; whoever owns it must grant access too; fix: check its policy, or use a bucket of the account"}},
		"in another region than the cluster": {bucket: func(b *cloud.Bucket) { b.Location = "eu-west-1" }, want: []string{
			"warning [bucket-location] Bucket acme-flyte: the bucket is in eu-west-1, the cluster in us-east-1: traffic between them is slow and costs money; fix: use a bucket in the cluster's region"}},
		"in another region than said": {bucket: func(b *cloud.Bucket) { b.Location = "eu-west-1" }, need: cloud.BucketNeed{Name: "acme-flyte", Location: "us-east-1"}, want: []string{
			"error [bucket-location] Bucket acme-flyte: the bucket is in eu-west-1, and is said to be in us-east-1; fix: name its region"}},
		"open to everybody": {bucket: func(b *cloud.Bucket) { b.Public, b.PublicAccessBlocked = true, false }, want: []string{
			"error [bucket-public] Bucket acme-flyte: the bucket is open to everybody; it holds the inputs and outputs of every task; fix: close it: block public access"}},
		"could be opened": {bucket: func(b *cloud.Bucket) { b.PublicAccessBlocked = false }, want: []string{
			"warning [bucket-public] Bucket acme-flyte: nothing keeps the bucket from being opened to everybody; fix: block public access on it"}},
		"encrypted with a key that nobody may use": {bucket: func(b *cloud.Bucket) { b.KMSKey, b.KMSKeyUsable = key, true }, want: []string{
			"error [bucket-key] Bucket acme-flyte: the bucket is encrypted with " + key + ", which the identities get no right to use; fix: name the key of the bucket"}},
		"encrypted with the key that is named": {bucket: func(b *cloud.Bucket) { b.KMSKey, b.KMSKeyUsable = key, true },
			need: cloud.BucketNeed{Name: "acme-flyte", KMSKey: key}},
		"encrypted with a disabled key": {bucket: func(b *cloud.Bucket) { b.KMSKey = key },
			need: cloud.BucketNeed{Name: "acme-flyte", KMSKey: key}, want: []string{
				"error [bucket-key] Bucket acme-flyte: the bucket is encrypted with " + key + ", which is not enabled; fix: enable the key, or encrypt with another"}},
		"with questions that may not be asked": {bucket: func(b *cloud.Bucket) {
			b.PublicAccessBlocked = false
			b.Unknown = map[string]string{"Public": "the policy's status may not be asked", "PublicAccessBlocked": "the access block may not be asked"}
		}, want: []string{
			"unprobed [bucket-unprobed] Bucket acme-flyte: the policy's status may not be asked",
			"unprobed [bucket-unprobed] Bucket acme-flyte: the access block may not be asked"}},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := good()
			if test.bucket != nil {
				test.bucket(&bucket)
			}
			account := cloud.Account{Provider: cloud.AWS, ID: "123456789012", Location: "us-east-1", Buckets: buckets{"acme-flyte": bucket}}
			if test.need.Name == "" {
				test.need.Name = "acme-flyte"
			}
			assert.Equal(t, test.want, look(t, cloud.ProbeBuckets("flyte/ml/preflight/buckets", account, test.need)))
		})
	}
}

func TestMultiRegionHoldsItsRegions(t *testing.T) {
	for location, far := range map[string]bool{"EU": false, "EUROPE-WEST4": false, "US": true, "ASIA": true} {
		bucket := good()
		bucket.Location = location
		account := cloud.Account{Provider: cloud.GCP, ID: "acme-ml", Location: "europe-west4", Buckets: buckets{"acme-flyte": bucket}}
		findings := look(t, cloud.ProbeBuckets("p", account, cloud.BucketNeed{Name: "acme-flyte"}))
		assert.Equal(t, far, len(findings) > 0, location)
	}
}

// look runs a probe and returns its findings as text.
func look(t *testing.T, probe planewright.Probe) []string {
	t.Helper()
	findings, err := probe.Run(t.Context(), planewright.NewRun())
	require.NoError(t, err)
	var texts []string
	for _, f := range findings {
		texts = append(texts, f.String())
	}
	return texts
}
