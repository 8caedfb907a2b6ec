package kubetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// patience bounds a whole test on a slow cluster.
const patience = 2 * time.Minute

// scene is what one test works with: a cluster and an empty namespace in it.
type scene struct {
	t         *testing.T
	suite     *suite
	cluster   kube.Cluster
	ctx       context.Context //nolint:containedctx // it lives as long as the test
	namespace string
	suffix    string // makes names outside of the namespace unique
}

func newScene(t *testing.T, s *suite) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	sc := &scene{t: t, suite: s, cluster: s.newCluster(t), ctx: ctx, suffix: fmt.Sprintf("%08x", h.Sum32())}
	sc.namespace = "kubetest-" + sc.suffix
	sc.cleanup(t, sc.ref("v1", "Namespace", sc.namespace))
	sc.create(t, manifest(`{apiVersion: v1, kind: Namespace, metadata: {name: `+sc.namespace+`}}`))
	require.NoError(t, sc.wait(kube.WaitRequest{
		Refs:  []kube.Ref{sc.ref("v1", "ServiceAccount", "default")},
		Until: exists,
	}), "a namespace gets its default ServiceAccount")
	return sc
}

// ref names an object; it is in the scene's namespace if its kind is in one.
func (s *scene) ref(apiVersion, kind, name string) kube.Ref {
	r := kube.Ref{APIVersion: apiVersion, Kind: kind, Name: name}
	switch kind {
	case "Namespace", "Node", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PersistentVolume", "StorageClass":
	default:
		r.Namespace = s.namespace
	}
	return r
}

// object reads a manifest and puts it into the scene's namespace.
func (s *scene) object(text string) *unstructured.Unstructured {
	obj := manifest(text)
	if s.ref("", obj.GetKind(), "").Namespace != "" && obj.GetNamespace() == "" {
		obj.SetNamespace(s.namespace)
	}
	return obj
}

func (s *scene) create(t *testing.T, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := s.cluster.Objects.Create(s.ctx, obj)
	require.NoError(t, err)
	return made
}

func (s *scene) apply(t *testing.T, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	applied, err := s.cluster.Objects.Apply(s.ctx, obj, kube.ApplyOptions{})
	require.NoError(t, err)
	return applied
}

func (s *scene) get(t *testing.T, apiVersion, kind, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := s.cluster.Objects.Get(s.ctx, s.ref(apiVersion, kind, name))
	require.NoError(t, err)
	return obj
}

func (s *scene) wait(request kube.WaitRequest) error { return s.cluster.Objects.Wait(s.ctx, request) }

// waitGone waits until an object no longer exists.
func (s *scene) waitGone(t *testing.T, ref kube.Ref) {
	t.Helper()
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{ref}, Until: kube.Gone}))
}

// cleanup deletes an object that an earlier run has left, and again when the test ends.
func (s *scene) cleanup(t *testing.T, ref kube.Ref) {
	t.Helper()
	require.NoError(t, s.cluster.Objects.Delete(s.ctx, ref, kube.DeleteOptions{}))
	s.waitGone(t, ref)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
		defer cancel()
		if err := s.cluster.Objects.Delete(ctx, ref, kube.DeleteOptions{}); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
}

// inVain is a context for a wait for what cannot happen.
func (s *scene) inVain(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, s.suite.vain)
	t.Cleanup(cancel)
	return ctx
}

// versions are the resourceVersions of all that a test can have written into
// its namespace, to see whether something was.
func (s *scene) versions(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for _, kind := range []string{"v1 ConfigMap", "v1 Secret", "v1 Service", "v1 ServiceAccount", "rbac.authorization.k8s.io/v1 RoleBinding"} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		items, err := s.cluster.Objects.List(s.ctx, kube.ListRequest{APIVersion: apiVersion, Kind: kind, Namespace: s.namespace})
		require.NoError(t, err)
		for _, item := range items {
			seen[kube.RefOf(item).String()] = item.GetResourceVersion()
		}
	}
	return seen
}

// exists is the condition that an object is there.
func exists(obj *unstructured.Unstructured) (bool, string) { return obj != nil, "does not exist" }

// applySoon applies an object of a kind that was just defined: API servers
// learn of definitions one by one.
func (s *scene) applySoon(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	for {
		applied, err := s.cluster.Objects.Apply(s.ctx, s.object(text), kube.ApplyOptions{})
		if err == nil || !errors.Is(err, planewright.ErrNotFound) || s.ctx.Err() != nil {
			require.NoError(t, err)
			return applied
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-s.ctx.Done():
		}
	}
}
