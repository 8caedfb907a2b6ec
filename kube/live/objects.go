package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects one LIST asks for.
const pageSize = 500

// objects implements [kube.Objects].
type objects struct{ c *connection }

var _ kube.Objects = (*objects)(nil)

// Get implements [kube.Objects].
func (o *objects) Get(ctx context.Context, ref kube.Ref) (*unstructured.Unstructured, error) {
	ctx, fail := o.begin(ctx, "get", ref)
	if err := o.check(ctx, ref, true); err != nil {
		return nil, fail(err)
	}
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj := shell(ref)
	if err := o.c.client.Get(ctx, key(ref), obj); err != nil {
		return nil, fail(err)
	}
	return obj, nil
}

// List implements [kube.Objects].
func (o *objects) List(ctx context.Context, list kube.ListRequest) ([]*unstructured.Unstructured, error) {
	ref := kube.Ref{APIVersion: list.APIVersion, Kind: list.Kind}
	subject := list.Kind + "s in all namespaces of cluster " + o.c.name
	if list.Namespace != "" {
		subject = list.Kind + "s in namespace " + list.Namespace + " of cluster " + o.c.name
	}
	selector, err := labels.Parse(list.Labels)
	if err != nil {
		return nil, &callError{op: "list", object: subject, err: fmt.Errorf("label selector %q: %w", list.Labels, err), verdict: verdict{sentinel: planewright.ErrInvalid}}
	}
	items, _, err := o.c.list(ctx, ref, client.InNamespace(list.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return nil, o.c.failure(ctx, "list", subject, err)
	}
	return items, nil
}

// list reads all pages of a list, sorted by namespace and name, and the
// resourceVersion to watch from.
func (c *connection) list(ctx context.Context, of kube.Ref, opts ...client.ListOption) ([]*unstructured.Unstructured, string, error) {
	if _, err := c.apis.mapping(ctx, of.GroupVersionKind()); err != nil {
		return nil, "", err
	}
	var (
		items []*unstructured.Unstructured
		page  string
	)
	for restarted := false; ; {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(of.APIVersion)
		list.SetKind(of.Kind + "List")
		err := c.listPage(ctx, list, append(slices.Clip(opts), client.Limit(pageSize), client.Continue(page)))
		if apierrors.IsResourceExpired(err) && page != "" && !restarted {
			// The snapshot behind the pages is gone; begin again, once.
			items, page, restarted = nil, "", true
			continue
		}
		if err != nil {
			return nil, "", err
		}
		for i := range list.Items {
			item := &list.Items[i]
			if item.GetKind() == "" {
				item.SetAPIVersion(of.APIVersion)
				item.SetKind(of.Kind)
			}
			items = append(items, item)
		}
		if page = list.GetContinue(); page == "" {
			slices.SortFunc(items, func(a, b *unstructured.Unstructured) int {
				return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
			})
			return items, list.GetResourceVersion(), nil
		}
	}
}

func (c *connection) listPage(ctx context.Context, list *unstructured.UnstructuredList, opts []client.ListOption) error {
	ctx, cancel := c.context(ctx)
	defer cancel()
	return c.client.List(ctx, list, opts...)
}

// Apply implements [kube.Objects].
func (o *objects) Apply(ctx context.Context, obj *unstructured.Unstructured, opts kube.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := kube.RefOf(obj)
	ctx, fail := o.begin(ctx, "apply", ref)
	if err := o.check(ctx, ref, true); err != nil {
		return nil, fail(err)
	}
	applied, err := o.apply(ctx, obj, opts)
	if err != nil {
		return nil, fail(err)
	}
	return applied, nil
}

func (o *objects) apply(ctx context.Context, obj *unstructured.Unstructured, opts kube.ApplyOptions, more ...client.ApplyOption) (*unstructured.Unstructured, error) {
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj = obj.DeepCopy()
	// The API server refuses an apply with managedFields; what a caller got
	// from a read may have them.
	obj.SetManagedFields(nil)
	more = append(more, client.FieldOwner(managerOf(opts)))
	if opts.Force {
		more = append(more, client.ForceOwnership)
	}
	if err := o.c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), more...); err != nil {
		return nil, err
	}
	return obj, nil
}

// managerOf is the field manager to apply with.
func managerOf(opts kube.ApplyOptions) string {
	if opts.FieldManager == "" {
		return kube.FieldManager
	}
	return opts.FieldManager
}

// Create implements [kube.Objects].
func (o *objects) Create(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ref := kube.RefOf(obj)
	ctx, fail := o.begin(ctx, "create", ref)
	if err := o.check(ctx, ref, obj.GetGenerateName() == ""); err != nil {
		return nil, fail(err)
	}
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj = obj.DeepCopy()
	obj.SetResourceVersion("")
	if err := o.c.client.Create(ctx, obj, client.FieldOwner(kube.FieldManager)); err != nil {
		return nil, fail(err)
	}
	return obj, nil
}

// Update implements [kube.Objects].
func (o *objects) Update(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ref := kube.RefOf(obj)
	ctx, fail := o.begin(ctx, "update", ref)
	if err := o.check(ctx, ref, true); err != nil {
		return nil, fail(err)
	}
	if obj.GetResourceVersion() == "" {
		return nil, fail(invalid("metadata.resourceVersion is missing; read the object first, it is the precondition of the update"))
	}
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj = obj.DeepCopy()
	if err := o.c.client.Update(ctx, obj, client.FieldOwner(kube.FieldManager)); err != nil {
		return nil, fail(err)
	}
	return obj, nil
}

// Delete implements [kube.Objects].
func (o *objects) Delete(ctx context.Context, ref kube.Ref, opts kube.DeleteOptions) error {
	ctx, fail := o.begin(ctx, "delete", ref)
	err := o.check(ctx, ref, true)
	if meta.IsNoMatchError(err) {
		return nil // what is not served does not exist
	}
	if err != nil {
		return fail(err)
	}
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	policy := metav1.DeletePropagationBackground
	if opts.Orphan {
		policy = metav1.DeletePropagationOrphan
	}
	deleteOpts := []client.DeleteOption{client.PropagationPolicy(policy)}
	if opts.UID != "" {
		uid := types.UID(opts.UID)
		deleteOpts = append(deleteOpts, client.Preconditions{UID: &uid})
	}
	err = o.c.client.Delete(ctx, shell(ref), deleteOpts...)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err) && opts.UID != "":
		return &callError{op: "delete", object: ref.In(o.c.name).String(), err: err, verdict: verdict{
			sentinel: planewright.ErrConflict, hint: "it is not the object that was meant: that one had another uid"}}
	}
	return fail(err)
}

// begin prepares an operation on one object: a context that keeps client-go
// quiet, and what makes an error of whatever goes wrong.
func (o *objects) begin(ctx context.Context, op string, ref kube.Ref) (context.Context, func(error) error) {
	return o.c.quiet(ctx), func(err error) error {
		if err == nil {
			return nil
		}
		if conflict := fieldConflict(ref.In(o.c.name), err); conflict != nil {
			return conflict
		}
		if writes := op == "apply" || op == "create"; writes && meta.IsNoMatchError(err) && o.c.justDefined(ctx, ref.GroupVersionKind()) {
			return &callError{op: op, object: ref.In(o.c.name).String(), err: err, verdict: verdict{
				sentinel: planewright.ErrUnavailable, retry: true, hint: "its CustomResourceDefinition has just been made"}}
		}
		return o.c.fail(ctx, op, ref.In(o.c.name), err)
	}
}

// check looks at a name before it is sent, and at whether its kind is served,
// so that what follows finds the answer in memory.
func (o *objects) check(ctx context.Context, ref kube.Ref, named bool) error {
	switch {
	case ref.APIVersion == "" || ref.Kind == "":
		return invalid("apiVersion or kind is missing")
	case named && ref.Name == "":
		return invalid("metadata.name is missing")
	}
	m, err := o.c.apis.mapping(ctx, ref.GroupVersionKind())
	if err != nil {
		return err
	}
	switch namespaced := m.Scope.Name() == meta.RESTScopeNameNamespace; {
	case namespaced && ref.Namespace == "":
		return invalid("metadata.namespace is missing: a " + ref.Kind + " lives in a namespace")
	case !namespaced && ref.Namespace != "":
		return invalid("metadata.namespace is set: a " + ref.Kind + " does not live in a namespace")
	}
	return nil
}

// invalid is an error about what a caller passed in.
func invalid(text string) error {
	return fmt.Errorf("%w: %s", planewright.ErrInvalid, text)
}

// fieldConflict reads the other managers and their fields out of a conflict
// that server-side apply met, nil if the error is none.
func fieldConflict(object planewright.Object, err error) *kube.ConflictError {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	fields := map[string][]string{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := cause.Message
		if _, quoted, ok := strings.Cut(cause.Message, `conflict with "`); ok {
			manager, _, _ = strings.Cut(quoted, `"`)
		}
		if !slices.Contains(fields[manager], cause.Field) {
			fields[manager] = append(fields[manager], cause.Field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	conflict := &kube.ConflictError{Object: object}
	for manager, list := range fields {
		slices.Sort(list)
		conflict.Managers = append(conflict.Managers, kube.ManagerFields{Manager: manager, Fields: list})
	}
	slices.SortFunc(conflict.Managers, func(a, b kube.ManagerFields) int { return strings.Compare(a.Manager, b.Manager) })
	return conflict
}

// shell is an object with nothing but its name.
func shell(ref kube.Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(ref.APIVersion)
	obj.SetKind(ref.Kind)
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}

func key(ref kube.Ref) client.ObjectKey {
	return client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
}
