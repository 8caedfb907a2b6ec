package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// BucketNeed is a bucket that an installation presupposes.
type BucketNeed struct {
	Name string
	// Location is the region it is said to be in. Empty means that of the account.
	Location string
	// KMSKey is the customer's key that the identities may use, empty for none.
	KMSKey string
}

// ProbeBuckets asks whether each bucket is there and as it must be: in the
// account, in its region, closed to the public, encrypted with a key that can
// be used. It makes nothing and reads no object.
func ProbeBuckets(id string, account Account, needs ...BucketNeed) planewright.Probe {
	return planewright.Probe{ID: id, Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		var findings []planewright.Finding
		for _, need := range needs {
			found, err := probeBucket(ctx, account, need)
			if err != nil {
				return nil, err
			}
			findings = append(findings, found...)
		}
		return findings, nil
	}}
}

func probeBucket(ctx context.Context, account Account, need BucketNeed) ([]planewright.Finding, error) {
	object := bucketObject(account, need.Name)
	finding := func(severity planewright.Severity, code, cause, fix string) planewright.Finding {
		return planewright.Finding{Severity: severity, Code: code, Object: &object, Cause: cause, Fix: fix}
	}
	bucket, err := account.Buckets.Describe(ctx, need.Name)
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return []planewright.Finding{finding(planewright.SeverityError, CodeBucketMissing,
			"the bucket does not exist", "create it in "+account.Location+", or name one that is there")}, nil
	case errors.Is(err, planewright.ErrUnsupported):
		return []planewright.Finding{finding(planewright.SeverityUnprobed, CodeBucketUnprobed, err.Error(), "")}, nil
	case errors.Is(err, planewright.ErrDenied):
		return []planewright.Finding{finding(planewright.SeverityUnprobed, CodeBucketUnprobed,
			"the bucket is another account's, or may not be looked at: "+err.Error(), "")}, nil
	case err != nil:
		return nil, err
	}
	look := bucketLook{account: account, need: need, bucket: bucket, finding: finding}
	return slices.Concat(look.owner(), look.location(), look.public(), look.key(), look.unknown()), nil
}

// bucketLook is what was found of one bucket, and what was wanted.
type bucketLook struct {
	account Account
	need    BucketNeed
	bucket  Bucket
	finding func(severity planewright.Severity, code, cause, fix string) planewright.Finding
}

// knows tells whether a field could be asked.
func (l bucketLook) knows(field string) bool {
	_, unknown := l.bucket.Unknown[field]
	return !unknown
}

func (l bucketLook) owner() []planewright.Finding {
	if l.bucket.Ours || !l.knows("OwnedBy") {
		return nil
	}
	return []planewright.Finding{l.finding(planewright.SeverityWarning, CodeBucketOwner,
		fmt.Sprintf("the bucket is owned by %s, not by %s; whoever owns it must grant access too", l.bucket.OwnedBy, l.account),
		"check its policy, or use a bucket of the account")}
}

func (l bucketLook) location() []planewright.Finding {
	want := l.need.Location
	if want == "" {
		want = l.account.Location
	}
	if l.bucket.Location == "" || within(want, l.bucket.Location) {
		return nil
	}
	if l.need.Location != "" {
		return []planewright.Finding{l.finding(planewright.SeverityError, CodeBucketLocation,
			fmt.Sprintf("the bucket is in %s, and is said to be in %s", l.bucket.Location, want), "name its region")}
	}
	return []planewright.Finding{l.finding(planewright.SeverityWarning, CodeBucketLocation,
		fmt.Sprintf("the bucket is in %s, the cluster in %s: traffic between them is slow and costs money", l.bucket.Location, want),
		"use a bucket in the cluster's region")}
}

// within tells whether a region is that of the bucket, or inside of its
// multi-region: Google's are "us", "eu" and "asia", and its regions begin so ("europe-west4").
func within(region, bucket string) bool {
	bucket = strings.ToLower(bucket)
	switch {
	case strings.EqualFold(region, bucket):
		return true
	case bucket == "eu":
		return strings.HasPrefix(region, "europe-")
	case bucket == "us" || bucket == "asia":
		return strings.HasPrefix(region, bucket+"-") && !strings.HasPrefix(region, "us-gov-")
	}
	return false
}

func (l bucketLook) public() []planewright.Finding {
	if l.bucket.Public && l.knows("Public") {
		return []planewright.Finding{l.finding(planewright.SeverityError, CodeBucketPublic,
			"the bucket is open to everybody; it holds the inputs and outputs of every task", "close it: block public access")}
	}
	if !l.bucket.PublicAccessBlocked && l.knows("PublicAccessBlocked") {
		return []planewright.Finding{l.finding(planewright.SeverityWarning, CodeBucketPublic,
			"nothing keeps the bucket from being opened to everybody", "block public access on it")}
	}
	return nil
}

func (l bucketLook) key() []planewright.Finding {
	if l.bucket.KMSKey == "" || !l.knows("KMSKey") {
		return nil
	}
	if !l.bucket.KMSKeyUsable && l.knows("KMSKeyUsable") {
		return []planewright.Finding{l.finding(planewright.SeverityError, CodeBucketKey,
			"the bucket is encrypted with "+l.bucket.KMSKey+", which is not enabled", "enable the key, or encrypt with another")}
	}
	if l.account.Provider == AWS && l.need.KMSKey != l.bucket.KMSKey {
		return []planewright.Finding{l.finding(planewright.SeverityError, CodeBucketKey,
			"the bucket is encrypted with "+l.bucket.KMSKey+", which the identities get no right to use", "name the key of the bucket")}
	}
	return nil
}

func (l bucketLook) unknown() []planewright.Finding {
	var findings []planewright.Finding
	for _, field := range slices.Sorted(maps.Keys(l.bucket.Unknown)) {
		findings = append(findings, l.finding(planewright.SeverityUnprobed, CodeBucketUnprobed, l.bucket.Unknown[field], ""))
	}
	return findings
}

func bucketObject(account Account, name string) planewright.Object {
	service := "s3"
	if account.Provider == GCP {
		service = "storage.googleapis.com"
	}
	return planewright.Object{APIVersion: service, Kind: "Bucket", Name: name}
}
