package apiserver

import (
	"encoding/json"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// scale serves the subresource by which replicas are read and set.
func (s *Server) scale(r *Request, k *kind) (*Reply, error) {
	rec, err := s.find(k, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	scale := scaleOf(rec.obj)
	if r.Verb == "get" {
		return jsonReply(http.StatusOK, scale), nil
	}
	wanted := r.body
	if r.Verb == "patch" {
		before, err := json.Marshal(scale)
		if err != nil {
			return nil, err
		}
		kind := *k.Resource
		kind.Group, kind.Version, kind.Kind = autoscalingv1.GroupName, "v1", "Scale"
		if wanted, err = patched(newKind(&kind), types.PatchType(r.contentType), before, r.body); err != nil {
			return nil, err
		}
	}
	next := &autoscalingv1.Scale{}
	if err := json.Unmarshal(wanted, next); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	obj := Clone(rec.obj)
	*replicasOf(obj) = &next.Spec.Replicas
	obj.SetResourceVersion(next.ResourceVersion)
	fields, err := k.fields("")
	if err != nil {
		return nil, err
	}
	stored, persisted, err := s.replace(k, rec.obj, managed(fields, rec.obj, obj, r.manager()), "", r.DryRun)
	if err != nil {
		return nil, err
	}
	reply := jsonReply(http.StatusOK, scaleOf(stored.obj))
	reply.Persisted = persisted
	return reply, nil
}

func scaleOf(obj Object) *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{
			Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
		},
	}
	if replicas := *replicasOf(obj); replicas != nil {
		scale.Spec.Replicas = *replicas
	}
	var selector *metav1.LabelSelector
	switch o := obj.(type) {
	case *appsv1.Deployment:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.ReplicaSet:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *appsv1.StatefulSet:
		scale.Status.Replicas, selector = o.Status.Replicas, o.Spec.Selector
	case *corev1.ReplicationController:
		scale.Status.Replicas = o.Status.Replicas
		scale.Status.Selector = labels.FormatLabels(o.Spec.Selector)
	}
	if selector != nil {
		scale.Status.Selector = metav1.FormatLabelSelector(selector)
	}
	return scale
}

// replicasOf is where a kind that can be scaled keeps its number of replicas.
func replicasOf(obj Object) **int32 {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *corev1.ReplicationController:
		return &o.Spec.Replicas
	}
	return new(*int32)
}
