package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patch implements [kube.Objects].
func (o *objects) Patch(ctx context.Context, ref kube.Ref, patch kube.Patch) (*unstructured.Unstructured, error) {
	ctx, fail := o.begin(ctx, "patch", ref)
	if err := o.check(ctx, ref, true); err != nil {
		return nil, fail(err)
	}
	operations := patch.Operations()
	if len(operations) == 0 {
		return nil, fail(invalid("the patch is empty"))
	}
	body, err := json.Marshal(operations)
	if err != nil {
		return nil, fail(invalid(fmt.Sprintf("the patch cannot be written as JSON: %v", err)))
	}
	ctx, cancel := o.c.context(ctx)
	defer cancel()
	obj := shell(ref)
	err = o.c.client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(kube.FieldManager))
	switch {
	case err == nil:
		return obj, nil
	case doesNotFit(err):
		return nil, &callError{op: "patch", object: ref.In(o.c.name).String(), err: err, verdict: verdict{
			sentinel: planewright.ErrConflict, hint: "the object is not as the patch expects it; read it again"}}
	}
	return nil, fail(err)
}

// doesNotFit reports whether an API server could not carry out a patch. It says
// so by a refusal without any field in it; what is wrong with the patched object has fields.
func doesNotFit(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}
