package live

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	helmkube "helm.sh/helm/v3/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// helmClient is Helm's client with waits that watch instead of poll and end
// with the caller's context, and with updates that repair what Helm's would not.
type helmClient struct {
	*helmkube.Client
	c   *connection
	ctx context.Context //nolint:containedctx // Helm's interface has no contexts
	// leftovers are the manifests of revisions that failed after the one that
	// Helm takes for the current one. Helm forgets what they made.
	leftovers []string
	// hookFailed is set when a hook has failed: what follows is tidying up.
	hookFailed bool
	// onlyServed leaves out objects of kinds that are not served: they cannot exist.
	onlyServed bool
	// waits are the errors of waits, which Helm turns into texts.
	waits []error
}

var (
	_ helmkube.Interface                    = (*helmClient)(nil)
	_ helmkube.InterfaceExt                 = (*helmClient)(nil)
	_ helmkube.InterfaceDeletionPropagation = (*helmClient)(nil)
)

// IsReachable asks nothing: whoever calls Helm has just read from the cluster.
func (h *helmClient) IsReachable() error { return nil }

// Build never downloads the OpenAPI schema to validate against: the API server
// validates what it gets.
func (h *helmClient) Build(reader io.Reader, _ bool) (helmkube.ResourceList, error) {
	if h.onlyServed {
		var err error
		if reader, err = h.served(reader); err != nil {
			return nil, err
		}
	}
	return h.Client.Build(reader, false)
}

// served drops the objects of a manifest whose kinds are not served.
func (h *helmClient) served(manifest io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(manifest)
	if err != nil {
		return nil, err
	}
	objects, err := parseManifest(string(data))
	if err != nil {
		return nil, err
	}
	lookup := h.c.apis.lookup()
	var kept bytes.Buffer
	for _, obj := range objects {
		if _, err := lookup.mapping(h.ctx, obj.GroupVersionKind()); meta.IsNoMatchError(err) {
			h.Log("%s is not served and cannot exist", kube.RefOf(obj))
			continue
		}
		document, err := obj.MarshalJSON()
		if err != nil {
			return nil, err
		}
		kept.WriteString("---\n")
		kept.Write(document)
		kept.WriteString("\n")
	}
	return &kept, nil
}

// Create creates, unless the caller has given up before it began.
func (h *helmClient) Create(resources helmkube.ResourceList) (*helmkube.Result, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, context.Cause(h.ctx)
	}
	return h.Client.Create(resources)
}

// Update updates and creates, and deletes what is no longer there. Unlike
// Helm's, it also repairs fields of custom resources that others changed, and
// knows of what failed revisions have made.
func (h *helmClient) Update(original, target helmkube.ResourceList, force bool) (*helmkube.Result, error) {
	if err := h.ctx.Err(); err != nil {
		return &helmkube.Result{}, context.Cause(h.ctx)
	}
	for _, manifest := range h.leftovers {
		made, err := h.Build(strings.NewReader(manifest), false)
		if err != nil {
			h.Log("manifest of a failed revision cannot be read: %v", err)
			continue
		}
		for _, info := range made {
			if !original.Contains(info) {
				original.Append(info)
			}
		}
	}
	return h.UpdateThreeWayMerge(original, target, force)
}

// Wait is what Helm calls after it has installed the definitions in crds/.
func (h *helmClient) Wait(resources helmkube.ResourceList, timeout time.Duration) error {
	return h.await(resources, timeout, ready)
}

// WaitWithJobs is not called: readiness is awaited after Helm is done.
func (h *helmClient) WaitWithJobs(resources helmkube.ResourceList, timeout time.Duration) error {
	return h.await(resources, timeout, ready)
}

// WaitForDelete waits until the objects are gone.
func (h *helmClient) WaitForDelete(resources helmkube.ResourceList, timeout time.Duration) error {
	err := h.await(resources, timeout, func(obj *unstructured.Unstructured) readiness {
		gone, reason := kube.Gone(obj)
		return readiness{ready: gone, reason: reason}
	})
	return h.tidying(err)
}

// WatchUntilReady waits until hooks are done: a Job is complete, a Pod has
// succeeded, anything else is there.
func (h *helmClient) WatchUntilReady(resources helmkube.ResourceList, timeout time.Duration) error {
	var run helmkube.ResourceList
	for _, info := range resources {
		if kind := info.Mapping.GroupVersionKind.Kind; kind == "Job" || kind == "Pod" {
			run = append(run, info)
		}
	}
	err := h.await(run, timeout, hookDone)
	h.hookFailed = h.hookFailed || err != nil
	return err
}

func hookDone(obj *unstructured.Unstructured) readiness {
	if obj == nil {
		return readiness{ready: true} // it ran and was cleaned up
	}
	if obj.GetKind() != "Pod" {
		return ready(obj)
	}
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	if phase == "Failed" {
		return ready(obj)
	}
	return readiness{ready: phase == "Succeeded", reason: "has not succeeded yet: " + phase}
}

// Delete deletes. An error while tidying up after a failed hook is only logged:
// Helm would print it to stderr, and would tell it instead of the hook's failure.
func (h *helmClient) Delete(resources helmkube.ResourceList) (*helmkube.Result, []error) {
	result, errs := h.Client.Delete(resources)
	if len(errs) > 0 && h.tidying(errs[0]) == nil {
		return result, nil
	}
	return result, errs
}

func (h *helmClient) tidying(err error) error {
	if err == nil || !h.hookFailed {
		return err
	}
	h.c.log.WarnContext(h.ctx, "cannot clean up after a failed hook", "error", err)
	return nil
}

// GetPodList finds no pods: the logs of hooks have nowhere to go.
func (h *helmClient) GetPodList(string, metav1.ListOptions) (*corev1.PodList, error) {
	return &corev1.PodList{}, nil
}

func (h *helmClient) await(resources helmkube.ResourceList, timeout time.Duration, judge func(*unstructured.Unstructured) readiness) error {
	refs := make([]kube.Ref, 0, len(resources))
	for _, info := range resources {
		refs = append(refs, refOfInfo(info))
	}
	ctx, cancel := context.WithTimeout(h.ctx, timeout)
	defer cancel()
	w := newWaiter(h.c, judge)
	w.tell = func(text string) { h.c.log.DebugContext(ctx, text, "component", "helm") }
	err := w.wait(ctx, &objects{h.c}, refs)
	if err != nil {
		h.waits = append(h.waits, err)
	}
	return err
}

func refOfInfo(info *resource.Info) kube.Ref {
	apiVersion, kind := info.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	return kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: info.Namespace, Name: info.Name}
}
