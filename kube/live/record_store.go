package live

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// ownerLabel marks a release's records with the owner given in kube.Release.
	ownerLabel = "planewright.dev/owner"
	// ownerAnnotation holds the owner where it is no label value.
	ownerAnnotation = "planewright.dev/owner"
	// digestLabel holds the revision that this package wrote, and a keyed hash
	// of what it was made from. Helm copies labels from revision to revision, so
	// a label that names another revision than its record's was made by a
	// helm command since.
	digestLabel = "planewright.dev/digest"
	// digestKey is the key in a record's data under which the hash's key lies.
	digestKey = "planewright.dev"
	// versionLabel, statusLabel, nameLabel are Helm's own.
	versionLabel, statusLabel, nameLabel = "version", "status", "name"
)

// recordStore is the Secrets that Helm keeps its records in. It marks the
// record of the revision that is being written as ours.
type recordStore struct {
	typedcorev1.SecretInterface
	// revision is the one that this operation writes, 0 if it marks none.
	revision int
	owner    string
	// inputs is what the revision is made from; nil if it is made from another
	// revision, and operation then says how.
	inputs    []byte
	operation string

	// hold, if set, says why a record must not be deleted.
	hold func() error

	key []byte
}

// Create implements the part of SecretInterface that Helm uses.
func (s *recordStore) Create(ctx context.Context, secret *corev1.Secret, opts metav1.CreateOptions) (*corev1.Secret, error) {
	return s.SecretInterface.Create(ctx, s.mark(secret), opts)
}

// Update implements the part of SecretInterface that Helm uses.
func (s *recordStore) Update(ctx context.Context, secret *corev1.Secret, opts metav1.UpdateOptions) (*corev1.Secret, error) {
	return s.SecretInterface.Update(ctx, s.mark(secret), opts)
}

// Delete implements the part of SecretInterface that Helm uses.
func (s *recordStore) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	if s.hold != nil {
		if err := s.hold(); err != nil {
			return err
		}
	}
	return s.SecretInterface.Delete(ctx, name, opts)
}

func (s *recordStore) mark(secret *corev1.Secret) *corev1.Secret {
	if s.revision == 0 || secret.Labels[versionLabel] != strconv.Itoa(s.revision) {
		return secret
	}
	secret = secret.DeepCopy()
	if s.key == nil {
		s.key = make([]byte, sha256.Size)
		_, _ = rand.Read(s.key) // never fails
	}
	secret.Labels = maps.Clone(secret.Labels)
	if s.owner != "" {
		secret.Labels[ownerLabel] = ownerValue(s.owner)
		if ownerOf(ownerValue(s.owner)) != s.owner {
			secret.Annotations = map[string]string{ownerAnnotation: s.owner}
		}
	}
	if s.inputs == nil {
		secret.Labels[digestLabel] = strconv.Itoa(s.revision) + "-" + s.operation
		return secret
	}
	secret.Labels[digestLabel] = digestValue(s.revision, s.key, s.inputs)
	secret.Data[digestKey] = s.key
	return secret
}

// digestValue is the label of a revision: its number, and the hash of its
// inputs. The hash is keyed because values may hold secrets and labels are
// widely seen.
func digestValue(revision int, key, inputs []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(inputs)
	return strconv.Itoa(revision) + "-" + hex.EncodeToString(mac.Sum(nil))[:40]
}

// ownerSlash stands for a slash in an owner's label value.
const ownerSlash = "__"

// ownerValue is an owner as a label value: as it is if it can be one, with its
// slashes replaced, or else what is allowed of it and a hash.
func ownerValue(owner string) string {
	if value := strings.ReplaceAll(owner, "/", ownerSlash); !strings.Contains(owner, ownerSlash) && len(validation.IsValidLabelValue(value)) == 0 {
		return value
	}
	allowed := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, owner)
	allowed = strings.TrimLeft(allowed[:min(len(allowed), 40)], "-.")
	sum := sha256.Sum256([]byte(owner))
	return strings.TrimPrefix(allowed+"."+hex.EncodeToString(sum[:8]), ".")
}

// ownerOf is the owner that a label value stands for, as far as it tells.
func ownerOf(value string) string { return strings.ReplaceAll(value, ownerSlash, "/") }
