package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	helmtime "helm.sh/helm/v3/pkg/time"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Helm's words for the state of a record.
const (
	statusDeployed     = "deployed"
	statusFailed       = "failed"
	statusUninstalling = "uninstalling"
	statusUninstalled  = "uninstalled"
)

// record is one record of a release, as far as it matters here. Helm's own type
// holds the whole chart, and decoding that costs as much as rendering it.
type record struct {
	releaseContent
	labels      map[string]string
	annotations map[string]string
	uid         string
	version     string // the resourceVersion
	key         []byte
}

// releaseContent is the part of a stored release that is read.
type releaseContent struct {
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Revision  int            `json:"version"`
	Config    map[string]any `json:"config"`
	Manifest  string         `json:"manifest"`
	Hooks     []struct {
		Path     string `json:"path"`
		Manifest string `json:"manifest"`
	} `json:"hooks"`
	Info struct {
		LastDeployed helmtime.Time `json:"last_deployed"`
		Deleted      helmtime.Time `json:"deleted"`
		Status       string        `json:"status"`
		Description  string        `json:"description"`
	} `json:"info"`
	Chart struct {
		Metadata struct {
			Name       string `json:"name"`
			Version    string `json:"version"`
			AppVersion string `json:"appVersion"`
		} `json:"metadata"`
	} `json:"chart"`
}

// latestRecord reads the latest record of a release, nil if there is none.
// Records are big, so it first asks for their labels only.
func (r *releases) latestRecord(ctx context.Context, namespace, name string) (*record, error) {
	// A record may be pruned between the two requests; its successor is there then.
	for attempt := 0; ; attempt++ {
		heads, err := r.recordHeads(ctx, namespace, name)
		if err != nil || len(heads) == 0 {
			return nil, err
		}
		rec, err := r.readRecord(ctx, heads[len(heads)-1])
		if rec != nil || err != nil || attempt == 1 {
			return rec, err
		}
	}
}

// recordHead is what the labels of a record tell.
type recordHead struct {
	namespace, secret, release, status string
	revision                           int
}

// recordHeads reads the labels of a release's records, by revision; of all
// releases if the name is empty, of all namespaces if that is.
func (r *releases) recordHeads(ctx context.Context, namespace, name string) ([]recordHead, error) {
	selector := labels.Set{"owner": "helm"}
	if name != "" {
		selector[nameLabel] = name
	}
	metas, err := r.c.listMetadata(ctx, secretResource(), namespace, selector.String())
	if err != nil {
		return nil, err
	}
	var heads []recordHead
	for _, m := range metas {
		revision, err := strconv.Atoi(m.Labels[versionLabel])
		if err != nil || !strings.HasPrefix(m.Name, "sh.helm.release.v1.") {
			continue
		}
		heads = append(heads, recordHead{
			namespace: m.Namespace, secret: m.Name, release: m.Labels[nameLabel], status: m.Labels[statusLabel], revision: revision,
		})
	}
	slices.SortFunc(heads, func(a, b recordHead) int { return a.revision - b.revision })
	return heads, nil
}

// readRecord reads and decodes one record, nil if it is gone.
func (r *releases) readRecord(ctx context.Context, head recordHead) (*record, error) {
	secret, err := (&objects{r.c}).read(ctx, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: head.namespace, Name: head.secret})
	if err != nil || secret == nil {
		return nil, err
	}
	rec, err := decodeRecord(secret)
	if err != nil {
		return nil, fmt.Errorf("record %s/%s cannot be read: %w", head.namespace, head.secret, err)
	}
	return rec, nil
}

func decodeRecord(secret *unstructured.Unstructured) (*record, error) {
	data, _, err := unstructured.NestedStringMap(secret.Object, "data")
	if err != nil {
		return nil, err
	}
	rec := &record{
		labels: secret.GetLabels(), annotations: secret.GetAnnotations(),
		uid: string(secret.GetUID()), version: secret.GetResourceVersion(),
	}
	if rec.key, err = base64.StdEncoding.DecodeString(data[digestKey]); err != nil {
		rec.key = nil
	}
	// The Secret's own encoding, then Helm's.
	content, err := base64.StdEncoding.DecodeString(data["release"])
	if err == nil {
		content, err = base64.StdEncoding.AppendDecode(nil, content)
	}
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		if content, err = io.ReadAll(zip); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(content, &rec.releaseContent); err != nil {
		return nil, err
	}
	if rec.Namespace == "" {
		rec.Namespace = secret.GetNamespace()
	}
	return rec, nil
}

// owner is who installed the release through this package.
func (r *record) owner() string {
	if owner, ok := r.annotations[ownerAnnotation]; ok && ownerValue(owner) == r.labels[ownerLabel] {
		return owner
	}
	return ownerOf(r.labels[ownerLabel])
}

// ours reports whether the record was written by an operation of this package
// for the owner, and not by a helm command since.
func (r *record) ours(owner string) bool {
	if owner == "" || r.labels[ownerLabel] != ownerValue(owner) {
		return false
	}
	revision, how, _ := strings.Cut(r.labels[digestLabel], "-")
	return revision == strconv.Itoa(r.Revision) && (r.Info.Status != statusUninstalling || how == operationUninstall)
}

// pending reports whether a Helm operation was begun and not finished.
func (r *record) pending() bool { return kube.ReleaseState{Status: r.Info.Status}.Pending() }

// age is how long ago the operation that the record tells of began.
func (r *record) age() time.Duration {
	began := r.Info.LastDeployed
	if r.Info.Status == statusUninstalling && !r.Info.Deleted.IsZero() {
		began = r.Info.Deleted
	}
	return time.Since(began.Time)
}

// head is the state without the objects.
func (r *record) head() kube.ReleaseState {
	return kube.ReleaseState{
		Name: r.Name, Namespace: r.Namespace, Revision: r.Revision, Status: r.Info.Status,
		Chart: r.Chart.Metadata.Name, ChartVersion: r.Chart.Metadata.Version, AppVersion: r.Chart.Metadata.AppVersion,
		Owner: r.owner(), Updated: r.Info.LastDeployed.Time, Description: r.Info.Description,
	}
}
