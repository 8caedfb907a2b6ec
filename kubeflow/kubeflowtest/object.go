package kubeflowtest

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func lower(s string) string { return strings.ToLower(s) }

func textAt(o map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...)
	return s
}

func textsAt(o map[string]any, path ...string) []string {
	list, _, _ := unstructured.NestedStringSlice(o, path...)
	return list
}

func hasCondition(o *object, kind string) bool {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == kind && c["status"] == "True" {
			return true
		}
	}
	return false
}

// condition is a condition of an object's status.
func condition(kind string, on bool, reason, message string) map[string]any {
	status := "False"
	if on {
		status = "True"
	}
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
}

// make makes an object. The content is laid over it.
func newObject(apiVersion, kind, namespace, name string, content map[string]any) *object {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	maps.Copy(o, normal(content))
	return &object{Object: o}
}

func labelled(o *object, labels map[string]string) *object {
	o.SetLabels(labels)
	return o
}

func annotated(o *object, annotations map[string]string) *object {
	o.SetAnnotations(annotations)
	return o
}

// ownedBy has an object go with its owner.
func ownedBy(o, owner *object) *object {
	refs, _, _ := unstructured.NestedSlice(o.Object, "metadata", "ownerReferences")
	refs = append(refs, map[string]any{"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID())})
	_ = unstructured.SetNestedSlice(o.Object, refs, "metadata", "ownerReferences")
	return o
}

func isOwnedBy(o, owner *object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}

func namespace(name string) *object { return newObject("v1", "Namespace", "", name, nil) }

// definition makes a CustomResourceDefinition that takes any content. A kind with a status
// has it as a subresource.
func definition(group, version, kind, plural string, namespaced, status bool, more ...string) *object {
	scope := "Cluster"
	if namespaced {
		scope = "Namespaced"
	}
	var versions []any
	for i, v := range append([]string{version}, more...) {
		entry := map[string]any{"name": v, "served": true, "storage": i == 0, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}
		if status {
			entry["subresources"] = map[string]any{"status": map[string]any{}}
		}
		versions = append(versions, entry)
	}
	return newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+"."+group, map[string]any{"spec": map[string]any{
		"group": group, "scope": scope,
		"names":    map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": lower(kind)},
		"versions": versions,
	}})
}

// deployment makes a Deployment of one container.
func deployment(namespace, name, image string) *object {
	labels := map[string]any{"app": name}
	return newObject("apps/v1", "Deployment", namespace, name, map[string]any{"spec": map[string]any{
		"replicas": 1, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}},
	}})
}

// available reports whether a Deployment has all it wants.
func available(o *object) bool {
	if o == nil {
		return false
	}
	n, _, _ := unstructured.NestedInt64(o.Object, "status", "availableReplicas")
	want, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	return n >= want
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
