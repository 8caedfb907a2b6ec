package kubeflowtest

import (
	"context"
	"fmt"

	"github.com/planewright/planewright/kube/kubefake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// place is one cluster as the simulation sees it.
type place interface {
	// objects are those that the simulation is about.
	objects() ([]*object, error)
	// create makes an object that does not exist.
	create(o *object, plural string) error
	client() dynamic.Interface
	// instant tells that looking costs nothing, and shows what has just been written.
	instant() bool
}

// memory is a cluster of a fleet.
type memory struct {
	fleet *kubefake.Fleet
	name  string
	calls dynamic.Interface
}

func (m memory) objects() ([]*object, error) { return m.fleet.Objects(m.name), nil }

// create creates an object past the call log.
func (m memory) create(o *object, _ string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	m.fleet.Configure(m.name, kubefake.WithObjects(o))
	return nil
}

func (m memory) client() dynamic.Interface { return m.calls }

func (memory) instant() bool { return true }

// server is a cluster behind an API server.
type server struct{ calls dynamic.Interface }

// builtin are the built-in kinds that the simulation is about.
func builtin() []schema.GroupVersionResource {
	core, apps := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "apps", Version: "v1"}
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	return []schema.GroupVersionResource{
		core.WithResource("namespaces"), core.WithResource("serviceaccounts"), core.WithResource("configmaps"), core.WithResource("services"),
		core.WithResource("resourcequotas"), apps.WithResource("deployments"), rbac.WithResource("rolebindings"),
	}
}

// objects lists all custom objects, and the built-in ones that matter.
func (s server) objects() ([]*object, error) {
	all, err := s.list(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if err != nil {
		return nil, err
	}
	kinds := builtin()
	for _, d := range all {
		if hasCondition(d, "Established") {
			kinds = append(kinds, schema.GroupVersionResource{Group: textAt(d.Object, "spec", "group"), Version: storageVersion(d), Resource: textAt(d.Object, "spec", "names", "plural")})
		}
	}
	for _, kind := range kinds {
		list, err := s.list(kind)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// list lists the objects of a kind, none if it is not served.
func (s server) list(kind schema.GroupVersionResource) ([]*object, error) {
	list, err := s.calls.Resource(kind).List(context.Background(), metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make([]*object, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all, nil
}

// storageVersion is the version that a definition stores.
func storageVersion(definition *object) string {
	versions, _ := definition.Object["spec"].(map[string]any)["versions"].([]any)
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["storage"] == true {
			return textAt(version, "name")
		}
	}
	return ""
}

func (s server) create(o *object, plural string) error {
	_, err := resource(s.calls, o, plural).Create(context.Background(), o, metav1.CreateOptions{FieldManager: "simulation"})
	return err
}

func (s server) client() dynamic.Interface { return s.calls }

func (server) instant() bool { return false }
