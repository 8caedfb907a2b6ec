package flyte

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	providerS3  = "s3"
	providerGCS = "gcs"
)

// Storage is where Flyte keeps its metadata and what user code reads and
// writes: a bucket, or two. Make one with [S3], [S3Compatible] or [GCS].
type Storage struct {
	provider string
	bucket   string
	userData string
	// region is S3's, project Google Cloud's.
	region, project string
	// endpoint is set for a service that speaks S3 and is not AWS's.
	endpoint   string
	compatible bool
	keyID      string
	secretKey  planewright.Secret
	keysSecret string
	kmsKey     string
}

// S3 keeps everything in a bucket of AWS S3. Flyte authenticates by the
// identity of its pods, see [Deployment.WithIdentity], unless keys are given.
func S3(bucket, region string) Storage {
	return Storage{provider: providerS3, bucket: bucket, region: region}
}

// S3Compatible keeps everything in a bucket of a service that speaks S3, at a
// URL like "https://minio.acme.internal:9000"; http:// switches TLS off. Give
// it keys with [Storage.WithKeys].
//
// The keys are Flyte's own. Tasks do not get them: give user code its access by
// [Deployment.WithResourceTemplate] and raw values for plugins.k8s.default-env-from-secrets.
func S3Compatible(bucket, endpoint string) Storage {
	return Storage{provider: providerS3, bucket: bucket, region: "us-east-1", endpoint: endpoint, compatible: true}
}

// GCS keeps everything in a bucket of Google Cloud Storage. Flyte
// authenticates by the identity of its pods, see [Deployment.WithIdentity].
func GCS(bucket, project string) Storage {
	return Storage{provider: providerGCS, bucket: bucket, project: project}
}

// WithUserDataBucket keeps what user code writes in a bucket of its own. By
// default it is the same bucket as for metadata. With two buckets, Flyte's
// storage is told to open buckets as it meets them.
func (s Storage) WithUserDataBucket(bucket string) Storage {
	s.userData = bucket
	return s
}

// WithRegion sets the region of an S3-compatible service that has one. By default "us-east-1".
func (s Storage) WithRegion(region string) Storage {
	s.region = region
	return s
}

// WithKeys authenticates by an access key instead of the pods' identity. The
// keys go into a Secret object that Flyte reads as part of its configuration,
// never into Helm values. S3 only.
//
// A [planewright.SecretInCluster] cannot be used here, because Flyte reads keys
// from a configuration file only; see [Storage.WithKeysFromSecret].
func (s Storage) WithKeys(accessKeyID string, secretKey planewright.Secret) Storage {
	s.keyID, s.secretKey = accessKeyID, secretKey
	return s
}

// WithKeysFromSecret authenticates by an access key that an existing Secret
// in the deployment's namespace holds. Each of its keys must be the name of a
// configuration file (ending in ".yaml") that sorts after "100-inline-config.yaml", with
// storage.stow.config.access_key_id and storage.stow.config.secret_key in it; for
// Flyte 2 the whole configuration of the storage, which tasks' co-pilots read too. S3 only.
func (s Storage) WithKeysFromSecret(name string) Storage {
	s.keysSecret = name
	return s
}

// WithKMSKey names the customer's key (an ARN) that the buckets are encrypted
// with, so that identities made by [NewIdentity] may use it. S3 only. By default
// the buckets are encrypted with S3's own key.
func (s Storage) WithKMSKey(arn string) Storage {
	s.kmsKey = arn
	return s
}

// UserDataBucket returns the bucket for what user code writes.
func (s Storage) UserDataBucket() string {
	if s.userData == "" {
		return s.bucket
	}
	return s.userData
}

// String describes the storage without its keys.
func (s Storage) String() string {
	var b strings.Builder
	switch {
	case s.provider == "":
		return "no storage"
	case s.provider == providerGCS:
		fmt.Fprintf(&b, "gs://%s in project %s", s.bucket, s.project)
	case s.compatible:
		fmt.Fprintf(&b, "s3://%s at %s", s.bucket, s.shownEndpoint())
	default:
		fmt.Fprintf(&b, "s3://%s in %s", s.bucket, s.region)
	}
	if s.userData != "" {
		fmt.Fprintf(&b, ", user data in %s", s.userData)
	}
	switch {
	case s.keysSecret != "":
		fmt.Fprintf(&b, ", keys from Secret %s", s.keysSecret)
	case s.keyed():
		fmt.Fprintf(&b, ", secret key from %s", s.secretKey.Source())
	}
	return b.String()
}

// GoString is String, so that no verb prints a key.
func (s Storage) GoString() string { return "flyte.Storage(" + s.String() + ")" }

// keyed reports whether the storage has keys that are put into a Secret of ours.
func (s Storage) keyed() bool { return s.keyID != "" || !s.secretKey.IsZero() }

var (
	s3Bucket   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	gcsBucket  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)
	awsRegion  = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)
	anyRegion  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	gcpProject = regexp.MustCompile(`^([a-z][a-z0-9.-]*[a-z0-9]:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$`)
	ipv4       = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$`)
	eksName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
)

// gcsLabel is the longest part between the dots of a GCS bucket's name.
const gcsLabel = 63

func (s Storage) validate(p *planewright.Problems) {
	if s.provider == "" {
		p.Add("storage", "", "a deployment needs a bucket", "use WithStorage with S3, S3Compatible or GCS")
		return
	}
	s.validateBucket(p, "storage.bucket", s.bucket)
	if s.userData != "" {
		s.validateBucket(p, "storage.userDataBucket", s.userData)
	}
	if s.provider == providerGCS {
		if !gcpProject.MatchString(s.project) {
			p.Add("storage.project", s.project, "a Google Cloud project id has 6 to 30 lower-case letters, digits and hyphens", "use the project's id, not its name or number")
		}
		if s.keyed() || s.keysSecret != "" {
			p.Add("storage.keys", "", "Flyte reads Google Cloud Storage by the identity of its pods only", "use WithIdentity with GCPServiceAccount")
		}
		return
	}
	switch {
	case s.compatible && !anyRegion.MatchString(s.region):
		p.Add("storage.region", s.region, "a region is letters, digits, hyphens and underscores", "leave it out to use us-east-1")
	case !s.compatible && !awsRegion.MatchString(s.region):
		p.Add("storage.region", s.region, "an AWS region looks like us-east-1", "use the region's code, not its name")
	}
	if s.compatible {
		s.validateEndpoint(p)
	}
	s.validateKeys(p)
}

func (s Storage) validateBucket(p *planewright.Problems, path, bucket string) {
	rule, ok := "an S3 bucket has 3 to 63 lower-case letters, digits, dots and hyphens, and begins and ends with a letter or digit", s3Bucket.MatchString(bucket)
	if s.provider == providerGCS {
		rule, ok = "a GCS bucket has 3 to 222 lower-case letters, digits, dots, hyphens and underscores, begins and ends with a letter or digit, and has at most 63 of them between dots", gcsBucket.MatchString(bucket)
		for label := range strings.SplitSeq(bucket, ".") {
			ok = ok && len(label) <= gcsLabel
		}
		if strings.HasPrefix(bucket, "goog") || strings.Contains(bucket, "google") {
			rule, ok = "a GCS bucket does not begin with goog and does not hold the word google", false
		}
	}
	switch fix := "use the bucket's plain name, without a scheme or path"; {
	case !ok:
		p.Add(path, bucket, rule, fix)
	case strings.Contains(bucket, "..") || ipv4.MatchString(bucket):
		p.Add(path, bucket, "a bucket's name has no two dots in a row and is no IP address", fix)
	case !plainYAML(bucket):
		p.Add(path, bucket, "the chart writes the name into a YAML file without quotes, where this one reads as a number", "use a bucket with a letter in its name")
	}
}

func (s Storage) validateEndpoint(p *planewright.Problems) {
	u, err := url.Parse(s.endpoint)
	shown := s.shownEndpoint()
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.TrimSuffix(u.Path, "/") != "":
		p.Add("storage.endpoint", shown, "an endpoint is a URL of scheme, host and port", "use something like https://minio.acme.internal:9000")
	case !isHost(u.Hostname()):
		p.Add("storage.endpoint", shown, "the host must be a DNS name or an IP address", "use something like https://minio.acme.internal:9000")
	}
}

// shownEndpoint is the endpoint without a password that does not belong there.
func (s Storage) shownEndpoint() string {
	u, err := url.Parse(s.endpoint)
	switch {
	case err == nil:
		return u.Redacted()
	case strings.Contains(s.endpoint, "@"):
		return ""
	}
	return s.endpoint
}

func (s Storage) validateKeys(p *planewright.Problems) {
	switch {
	case s.keyed() && s.keysSecret != "":
		p.Add("storage.keys", s.keysSecret, "keys come from one place", "use either WithKeys or WithKeysFromSecret")
	case s.keysSecret != "":
		if errs := validation.IsDNS1123Subdomain(s.keysSecret); len(errs) > 0 {
			p.Add("storage.keysSecret", s.keysSecret, "a Secret's name is a DNS subdomain", "use the name of a Secret in the deployment's namespace")
		}
	case s.keyed():
		if s.keyID == "" || strings.TrimSpace(s.keyID) != s.keyID {
			p.Add("storage.accessKeyID", s.keyID, "an access key has an id without spaces around it", "give WithKeys the id that belongs to the secret key")
		}
		if s.secretKey.IsZero() {
			p.Add("storage.secretKey", "", "an access key has a secret part", "give WithKeys a planewright.Secret")
		}
		if _, ok := s.secretKey.InCluster(); ok {
			p.Add("storage.secretKey", s.secretKey.Source(), "Flyte reads keys from a configuration file, so a key of an existing Secret cannot be referred to", "use WithKeysFromSecret with a Secret that holds such a file")
		}
	case s.compatible:
		p.Add("storage.keys", "", "an S3-compatible service needs keys; only AWS gives pods an identity", "use WithKeys or WithKeysFromSecret")
	}
}
