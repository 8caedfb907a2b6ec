package gke

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// buckets implements cloud.Buckets with Cloud Storage.
type buckets struct{ *project }

// Describe implements [cloud.Buckets]. Whose project a bucket is in is told by
// the project's number, which is not known here: a bucket that may be looked
// at counts as ours.
func (b *buckets) Describe(ctx context.Context, name string) (cloud.Bucket, error) {
	if b.Storage == nil {
		return cloud.Bucket{}, fmt.Errorf("bucket %s: the account has no client for Cloud Storage: %w", name, planewright.ErrUnsupported)
	}
	live, err := b.Storage.GetBucket(ctx, name)
	if err != nil {
		return cloud.Bucket{}, failure("storage.buckets.get", bucketObject(name), err)
	}
	bucket := cloud.Bucket{Name: name, Location: strings.ToLower(live.Location), OwnedBy: "project number " + strconv.FormatUint(live.ProjectNumber, 10), Ours: true}
	if live.IamConfiguration != nil {
		bucket.PublicAccessBlocked = live.IamConfiguration.PublicAccessPrevention == "enforced"
	}
	if live.Encryption != nil {
		// Cloud Storage uses the key itself; a key that it cannot use makes writes fail.
		bucket.KMSKey, bucket.KMSKeyUsable = live.Encryption.DefaultKmsKeyName, live.Encryption.DefaultKmsKeyName != ""
	}
	policy, err := b.Storage.GetBucketPolicy(ctx, name)
	if err != nil {
		bucket.Unknown = map[string]string{"Public": "whether its policy opens it may not be asked: " + failure("storage.buckets.getIamPolicy", bucketObject(name), err).Error()}
		return bucket, nil
	}
	for _, binding := range policy.Bindings {
		for _, member := range binding.Members {
			if member == "allUsers" || member == "allAuthenticatedUsers" {
				bucket.Public = true
			}
		}
	}
	return bucket, nil
}
