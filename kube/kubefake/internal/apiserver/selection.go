package apiserver

import (
	"fmt"
	"strconv"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is what a list, watch or deletecollection is about.
type selection struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func (s *Server) selection(r *Request, k *kind) (selection, error) {
	sel := selection{namespace: r.Namespace}
	var err error
	if sel.labels, err = labels.Parse(r.query.Get("labelSelector")); err != nil {
		return sel, apierrors.NewBadRequest(err.Error())
	}
	if sel.fields, err = fields.ParseSelector(r.query.Get("fieldSelector")); err != nil {
		return sel, apierrors.NewBadRequest(err.Error())
	}
	for _, req := range sel.fields.Requirements() {
		if !apis.Selectable(k.GroupVersionKind(), req.Field) {
			return sel, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", req.Field))
		}
	}
	if r.Name != "" { // a watch on one object, by its path
		sel.fields = fields.AndSelectors(sel.fields, fields.OneTermEqualSelector("metadata.name", r.Name))
	}
	return sel, nil
}

func (s selection) isEverything() bool { return s.labels.Empty() && s.fields.Empty() }

func (s selection) matches(obj Object) bool {
	if s.namespace != "" && obj.GetNamespace() != s.namespace {
		return false
	}
	return s.labels.Matches(labels.Set(obj.GetLabels())) && (s.fields.Empty() || s.fields.Matches(fieldsOf{obj}))
}

// fieldsOf looks up the selectable fields of an object.
type fieldsOf struct{ obj Object }

// Has implements [fields.Fields].
func (f fieldsOf) Has(string) bool { return true }

// Get implements [fields.Fields].
func (f fieldsOf) Get(field string) string {
	switch field {
	case "metadata.name":
		return f.obj.GetName()
	case "metadata.namespace":
		return f.obj.GetNamespace()
	}
	switch o := f.obj.(type) {
	case *corev1.Secret:
		return string(o.Type)
	case *corev1.Namespace:
		return string(o.Status.Phase)
	case *corev1.Node:
		return strconv.FormatBool(o.Spec.Unschedulable)
	case *corev1.Pod:
		return podField(o, field)
	case *corev1.Event:
		return eventField(o, field)
	}
	return ""
}

func podField(p *corev1.Pod, field string) string {
	switch field {
	case "spec.nodeName":
		return p.Spec.NodeName
	case "spec.restartPolicy":
		return string(p.Spec.RestartPolicy)
	case "spec.schedulerName":
		return p.Spec.SchedulerName
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName
	case "status.phase":
		return string(p.Status.Phase)
	case "status.podIP":
		return p.Status.PodIP
	case "status.nominatedNodeName":
		return p.Status.NominatedNodeName
	}
	return ""
}

func eventField(e *corev1.Event, field string) string {
	switch field {
	case "involvedObject.kind":
		return e.InvolvedObject.Kind
	case "involvedObject.namespace":
		return e.InvolvedObject.Namespace
	case "involvedObject.name":
		return e.InvolvedObject.Name
	case "involvedObject.uid":
		return string(e.InvolvedObject.UID)
	case "involvedObject.apiVersion":
		return e.InvolvedObject.APIVersion
	case "involvedObject.resourceVersion":
		return e.InvolvedObject.ResourceVersion
	case "involvedObject.fieldPath":
		return e.InvolvedObject.FieldPath
	case "reason":
		return e.Reason
	case "reportingComponent":
		return e.ReportingController
	case "source":
		return e.Source.Component
	case "type":
		return e.Type
	}
	return ""
}
