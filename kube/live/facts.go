package live

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// facts implements [kube.Facts].
type facts struct{ c *connection }

var _ kube.Facts = (*facts)(nil)

var leadingNumber = regexp.MustCompile(`^[0-9]+`)

// Version implements [kube.Facts].
func (f *facts) Version(ctx context.Context) (kube.Version, error) {
	info, err := f.c.apis.serverVersion(f.c.quiet(ctx))
	if err != nil {
		return kube.Version{}, f.c.failure(ctx, "ask for", "the version of cluster "+f.c.name, err)
	}
	v := kube.Version{Git: info.GitVersion}
	// Some vendors append to the numbers: "29+".
	v.Major, _ = strconv.Atoi(leadingNumber.FindString(info.Major))
	v.Minor, _ = strconv.Atoi(leadingNumber.FindString(info.Minor))
	return v, nil
}

// Nodes implements [kube.Facts].
func (f *facts) Nodes(ctx context.Context) ([]kube.Node, error) {
	items, err := f.all(ctx, "v1", "Node")
	if err != nil {
		return nil, err
	}
	nodes := make([]kube.Node, 0, len(items))
	for _, n := range convert[corev1.Node](items) {
		node := kube.Node{
			Name:         n.Name,
			Architecture: n.Status.NodeInfo.Architecture,
			OS:           n.Status.NodeInfo.OperatingSystem,
			Schedulable:  !n.Spec.Unschedulable,
			Labels:       n.Labels,
		}
		// A node that has not reported yet carries these as labels already.
		if node.Architecture == "" {
			node.Architecture = n.Labels[corev1.LabelArchStable]
		}
		if node.OS == "" {
			node.OS = n.Labels[corev1.LabelOSStable]
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady {
				node.Ready = c.Status == corev1.ConditionTrue
			}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// StorageClasses implements [kube.Facts].
func (f *facts) StorageClasses(ctx context.Context) ([]kube.StorageClass, error) {
	items, err := f.all(ctx, "storage.k8s.io/v1", "StorageClass")
	if err != nil {
		return nil, err
	}
	classes := make([]kube.StorageClass, 0, len(items))
	for _, c := range convert[storagev1.StorageClass](items) {
		classes = append(classes, kube.StorageClass{
			Name:        c.Name,
			Provisioner: c.Provisioner,
			Default:     c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true",
		})
	}
	return classes, nil
}

// all lists the objects of a kind in the whole cluster; none if it is not served.
func (f *facts) all(ctx context.Context, apiVersion, kind string) ([]*unstructured.Unstructured, error) {
	ctx = f.c.quiet(ctx)
	items, _, err := f.c.list(ctx, kube.Ref{APIVersion: apiVersion, Kind: kind})
	if err != nil {
		return nil, f.c.failure(ctx, "list", kind+"s of cluster "+f.c.name, err)
	}
	return items, nil
}

// Serves implements [kube.Facts].
func (f *facts) Serves(ctx context.Context, kinds ...schema.GroupVersionKind) (map[schema.GroupVersionKind]bool, error) {
	ctx = f.c.quiet(ctx)
	served := make(map[schema.GroupVersionKind]bool, len(kinds))
	lookup := f.c.apis.lookup()
	for _, kind := range kinds {
		_, err := lookup.mapping(ctx, kind)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, f.c.failure(ctx, "ask for", "the APIs of cluster "+f.c.name, err)
		}
		served[kind] = err == nil
	}
	return served, nil
}

// Denied implements [kube.Facts].
func (f *facts) Denied(ctx context.Context, accesses ...kube.Access) ([]kube.Access, error) {
	ctx = f.c.quiet(ctx)
	if len(accesses) > 1 {
		// One who may do anything need not be asked about each thing.
		all := kube.Access{Verb: "*", Group: "*", Resource: "*"}
		if anything, err := f.allowed(ctx, all); err != nil || anything {
			return nil, f.failure(ctx, all, err)
		}
	}
	allowed := make([]bool, len(accesses))
	err := inParallel(len(accesses), func(i int) (err error) {
		allowed[i], err = f.allowed(ctx, accesses[i])
		return f.failure(ctx, accesses[i], err)
	})
	if err != nil {
		return nil, err
	}
	var denied []kube.Access
	for i, access := range accesses {
		if !allowed[i] {
			denied = append(denied, access)
		}
	}
	return denied, nil
}

func (f *facts) failure(ctx context.Context, access kube.Access, err error) error {
	return f.c.failure(ctx, "ask for", "the permission to "+access.String()+" of cluster "+f.c.name, err)
}

// allowed asks for one permission. Asking persists nothing.
func (f *facts) allowed(ctx context.Context, access kube.Access) (bool, error) {
	ctx, cancel := f.c.context(ctx)
	defer cancel()
	resource, subresource, _ := strings.Cut(access.Resource, "/")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: access.Namespace, Verb: access.Verb, Group: access.Group, Resource: resource, Subresource: subresource,
		}},
	})
	if err != nil {
		return false, err
	}
	review := &unstructured.Unstructured{Object: content}
	review.SetAPIVersion(authorizationv1.SchemeGroupVersion.String())
	review.SetKind("SelfSubjectAccessReview")
	if _, err := f.c.apis.mapping(ctx, review.GroupVersionKind()); err != nil {
		return false, err
	}
	if err := f.c.client.Create(ctx, review); err != nil {
		return false, err
	}
	ok, _, err := unstructured.NestedBool(review.Object, "status", "allowed")
	return ok, err
}

// Endpoint implements [kube.Facts]. It sends nothing to the API server.
func (f *facts) Endpoint(context.Context) (kube.Endpoint, error) {
	e := kube.Endpoint{URL: f.c.config.Host, CA: slices.Clone(f.c.original.CAData)}
	if len(e.CA) == 0 && f.c.original.CAFile != "" {
		ca, err := os.ReadFile(f.c.original.CAFile)
		if err != nil {
			return kube.Endpoint{}, fmt.Errorf("certificate authority of cluster %s: %w: %w", f.c.name, planewright.ErrNotFound, err)
		}
		e.CA = ca
	}
	return e, nil
}
