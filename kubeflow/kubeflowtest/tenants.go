package kubeflowtest

// profiles does what the profile controller does, while it runs.
func (r *round) profiles() {
	if !available(r.get("apps", "Deployment", "kubeflow", "profiles-deployment")) {
		r.waiting = r.waiting || len(r.all("kubeflow.org", "Profile")) > 0 && r.get("apps", "Deployment", "kubeflow", "profiles-deployment") != nil
		return
	}
	for _, p := range r.all("kubeflow.org", "Profile") {
		if p.GetDeletionTimestamp() == nil {
			r.profile(p)
		}
	}
}

func (r *round) profile(p *object) {
	name, owner := p.GetName(), textAt(p.Object, "spec", "owner", "name")
	ns := r.get("", "Namespace", "", name)
	if ns == nil {
		ns = r.ensure(ownedBy(labelled(annotated(namespace(name), map[string]string{"owner": owner}), profileLabels()), p))
	}
	if ns == nil || ns.GetUID() == "" {
		return
	}
	if ns.GetAnnotations()["owner"] != owner {
		return // not owned by the profile's creator: nothing happens, and nothing is said
	}
	if ns.GetLabels()["app.kubernetes.io/part-of"] == "" {
		labels := profileLabels()
		for key, value := range ns.GetLabels() {
			labels[key] = value
		}
		ns.SetLabels(labels)
		r.update(ns)
		return
	}
	rule := map[string]any{"when": []any{map[string]any{"key": "request.headers[kubeflow-userid]", "values": []any{owner}}}}
	r.ensure(newObject("security.istio.io/v1", "AuthorizationPolicy", name, "ns-owner-access-istio", map[string]any{"spec": map[string]any{"rules": []any{rule}}}))
	for _, account := range []string{"default-editor", "default-viewer"} {
		r.ensure(newObject("v1", "ServiceAccount", name, account, nil))
	}
	for binding, role := range map[string]string{"default-editor": "kubeflow-edit", "default-viewer": "kubeflow-view"} {
		r.ensure(roleBinding(name, binding, role, map[string]any{"kind": "ServiceAccount", "name": binding, "namespace": name}))
	}
	r.ensure(annotated(roleBinding(name, "namespaceAdmin", "kubeflow-admin", map[string]any{"kind": "User", "name": owner, "apiGroup": "rbac.authorization.k8s.io"}),
		map[string]string{"user": owner, "role": "admin"}))
	if quota, ok := p.Object["spec"].(map[string]any)["resourceQuotaSpec"].(map[string]any); ok && len(quota) > 0 {
		r.ensure(newObject("v1", "ResourceQuota", name, "kf-resource-quota", map[string]any{"spec": quota}))
	}
}

func profileLabels() map[string]string {
	return map[string]string{"istio-injection": "enabled", "app.kubernetes.io/part-of": "kubeflow-profile"}
}

func roleBinding(namespace, name, role string, subject map[string]any) *object {
	return newObject("rbac.authorization.k8s.io/v1", "RoleBinding", namespace, name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
		"subjects": []any{subject}})
}
