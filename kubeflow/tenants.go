package kubeflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The versions of tenants' objects, those that Kubeflow's own programs use.
const (
	profileAPI = "kubeflow.org/v1beta1"
	policyAPI  = "security.istio.io/v1beta1"
	rbacAPI    = "rbac.authorization.k8s.io/v1"
	rbacGroup  = "rbac.authorization.k8s.io"
)

// tenantSteps are those of profiles, and of people in other namespaces.
func (b binding) tenantSteps(needs []string) []planewright.Step {
	var steps []planewright.Step
	for _, profile := range b.profiles {
		p := profileStep{b, profile}
		made := p.step(needs...)
		steps = append(steps, made)
		if profile.podSecurity != PodSecurityUnset {
			steps = append(steps, podSecurityStep{b, profile}.step(made.ID))
		}
		for _, binding := range profile.Bindings() {
			id := b.step("profiles", profile.name, "bindings", binding.Name())
			steps = append(steps, bindingStep{binding: b, namespace: profile.name, person: binding}.step(id, made.ID))
		}
	}
	return append(steps, b.namespaceSteps(needs)...)
}

// namespaceSteps let people into namespaces that are no profiles.
func (b binding) namespaceSteps(needs []string) []planewright.Step {
	var steps []planewright.Step
	seen := map[string]string{}
	for _, n := range b.bindings {
		if seen[n.namespace] == "" {
			account := editorStep{b, n.namespace}.step(needs...)
			seen[n.namespace] = account.ID
			steps = append(steps, account)
		}
		id := b.step("namespaces", n.namespace, "bindings", n.binding.Name())
		steps = append(steps, bindingStep{binding: b, namespace: n.namespace, person: n.binding, bare: true}.step(id, seen[n.namespace]))
	}
	return steps
}

// access is how the mesh knows people, as the running profile controller says.
type access struct {
	header, prefix string
	// gateway and pipelines are the principals that requests come from.
	gateway, pipelines string
}

// The values of a Kubeflow whose profile controller says nothing else.
const (
	defaultHeader    = "kubeflow-userid"
	defaultGateway   = "cluster.local/ns/istio-system/sa/istio-ingressgateway-service-account"
	defaultPipelines = "cluster.local/ns/kubeflow/sa/ml-pipeline-ui"
)

// access reads how the profile controller is set up. While it is not there, it is unknown.
func (b binding) access(ctx context.Context) (access, error) {
	ref := kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "kubeflow", Name: "profiles-deployment"}
	live, err := b.workload.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) {
		return access{}, &planewright.UnknownError{Step: b.step(string(ComponentBase), "instance"), Output: "the gateway's principal"}
	}
	if err != nil {
		return access{}, err
	}
	env := map[string]string{}
	for _, container := range mapsAt(live.Object, "spec", "template", "spec", "containers") {
		for _, e := range mapsAt(container, "env") {
			env[textAt(e, "name")] = textAt(e, "value")
		}
	}
	return access{
		header: cmp.Or(env["USERID_HEADER"], defaultHeader), prefix: env["USERID_PREFIX"],
		gateway: cmp.Or(env["ISTIO_INGRESS_GATEWAY_PRINCIPAL"], defaultGateway), pipelines: cmp.Or(env["KFP_UI_PRINCIPAL"], defaultPipelines),
	}, nil
}

// CollisionError says that an object that a person needs has the name of another
// person's: Kubeflow makes names of addresses, and loses differences. It matches
// [planewright.ErrConflict].
type CollisionError struct {
	Object planewright.Object
	// Wanted is the person to be let in, Found the one whose object it is.
	Wanted, Found string
}

// Error implements error.
func (e *CollisionError) Error() string {
	return fmt.Sprintf("%s belongs to %q, and %q would have an object of the same name; one of the two needs another address", e.Object, e.Found, e.Wanted)
}

// Is makes the error match [planewright.ErrConflict].
func (e *CollisionError) Is(target error) bool { return target == planewright.ErrConflict }

// Retryable reports false: names do not change by themselves.
func (e *CollisionError) Retryable() bool { return false }

// letterCase tells of an address with upper-case letters: it must be what the login gives.
func letterCase(user string) []planewright.Finding {
	if strings.ToLower(user) == user {
		return nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeLetterCase,
		Cause: user + " has upper-case letters; people are compared letter by letter with what the login gives, which is often lower case",
		Fix:   "see what the login gives, and write it just so"}}
}

func namespaceRef(name string) kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}
}

// namespaceOf reads a namespace, nil if it does not exist.
func (b binding) namespaceOf(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	live, err := b.workload.Objects.Get(ctx, namespaceRef(name))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return live, nil
}
