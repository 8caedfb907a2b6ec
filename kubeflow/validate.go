package kubeflow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxName leaves room for what is put before a stack's name in the names of objects.
const maxName = 40

func (s KubeflowStack) validate(p *planewright.Problems) {
	if errs := validation.IsDNS1123Label(s.name); len(errs) > 0 || len(s.name) > maxName {
		p.Add("name", s.name, fmt.Sprintf("a stack's name is at most %d lower-case letters, digits and hyphens", maxName), "choose a short name like ml")
	}
	if s.global == "" {
		p.Add("global", "", "a stack names the cluster that the platform runs in", "give NewKubeflowStack the name of a cluster of the Env")
	}
	if s.workload == "" {
		p.Add("workload", "", "a stack names the cluster that Kubeflow is installed in", "give NewKubeflowStack the name of a cluster of the Env")
	}
	s.validateHost(p)
	s.validateOperators(p)
	s.validateValues(p)
	s.validateProfiles(p)
	s.validateBindings(p)
	s.validateRegistries(p)
	s.validateUnkept(p)
}

func (s KubeflowStack) validateHost(p *planewright.Problems) {
	switch {
	case s.host == "":
		p.Add("host", "", "people reach Kubeflow under a DNS name", "use WithHost")
	case strings.Contains(s.host, "://"), strings.ContainsAny(s.host, "/:"):
		p.Add("host", s.host, "a host is a bare DNS name; what repeats it adds scheme and path itself", "leave out the scheme, the port and slashes: "+bareHost(s.host))
	case len(validation.IsDNS1123Subdomain(s.host)) > 0 || !strings.Contains(s.host, "."):
		p.Add("host", s.host, "a host is a whole DNS name in lower case", "use a name like kubeflow.acme.example")
	}
}

// bareHost is the host of what may be a URL.
func bareHost(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	host, _, _ := strings.Cut(text, "/")
	host, _, _ = strings.Cut(host, ":")
	return strings.ToLower(host)
}

func (s KubeflowStack) validateOperators(p *planewright.Problems) {
	taken := map[string]Component{}
	for _, c := range s.Components() {
		o, ok := s.release.Operator(c)
		path := "release." + string(c)
		if !ok || o.Package == "" || o.Kind == "" {
			p.Add(path, s.release.name, "the release must know the operator of each component that is installed, with its package and kind", "use kubeflow.Release2603, or add it by WithOperators")
			continue
		}
		for _, csv := range append([]string{o.CSV}, o.Through...) {
			if csv != "" && (version(csv) == "" || len(validation.IsDNS1123Subdomain(csv)) > 0) {
				p.Add(path+".csv", csv, "a pin is the whole name of a ClusterServiceVersion", "use a name like "+o.Package+".v1.2.3")
			}
		}
		namespace := s.operatorNamespace(c)
		if errs := validation.IsDNS1123Label(namespace); len(errs) > 0 {
			p.Add(string(c)+".operatorNamespace", namespace, "a namespace is at most 63 lower-case letters, digits and hyphens", "leave it out to use "+o.Package)
		}
		if other, ok := taken[namespace]; ok {
			p.Add(string(c)+".operatorNamespace", namespace, "an operator has a namespace of its own, because what is approved there is approved for all; this one is that of "+string(other), "leave it out to use "+o.Package)
		}
		taken[namespace] = c
	}
	if s.catalog.source == "" || s.catalog.namespace == "" {
		p.Add("catalog", s.catalog.source, "a catalog has a name and a namespace", "leave WithCatalog out to use "+DefaultCatalog)
	}
}

// validateValues finds values that contradict what the stack sets itself.
func (s KubeflowStack) validateValues(p *planewright.Problems) {
	for _, c := range s.Components() {
		o, _ := s.operand(c)
		validateRaw(p, string(c)+".values", o, s.settings(c))
	}
	for i, r := range s.registries {
		validateRaw(p, fmt.Sprintf("modelRegistries[%d].values", i), r.values, r.settings())
	}
}

func validateRaw(p *planewright.Problems, path string, o operand, settings []setting) {
	raw := o.raw()
	if _, err := plain(raw); err != nil {
		p.Add(path, "", "values are maps of strings, numbers, booleans and lists: "+err.Error(), "mend the values")
		return
	}
	for _, set := range settings {
		if set.path == "" {
			continue
		}
		if value, ok := raw.Get(set.path); ok && !reflect.DeepEqual(value, set.value) {
			p.Add(path+"."+set.path, fmt.Sprint(value), fmt.Sprintf("%s is %v already", set.what, set.value), "leave the value out, or change "+set.by)
		}
	}
}

// reservedNamespaces belong to the cluster or to Kubeflow itself.
func reservedNamespace(name string) bool {
	return slices.Contains([]string{"default", "kubeflow", "kubeflow-oauth2-proxy", "istio-system", "istio-cni", "cpaas-system", "cert-manager", "knative-serving"}, name) ||
		strings.HasPrefix(name, "kube-")
}

func (s KubeflowStack) validateRegistries(p *planewright.Problems) {
	for i, r := range s.registries {
		path := fmt.Sprintf("modelRegistries[%d]", i)
		if errs := validation.IsDNS1035Label(r.name); len(errs) > 0 {
			p.Add(path+".name", r.name, "a registry's Service is named after it: lower-case letters, digits and hyphens, beginning with a letter", "choose a short name like models")
		}
		if !slices.ContainsFunc(s.profiles, func(have Profile) bool { return have.name == r.profile.name }) {
			p.Add(path+".profile", r.profile.name, "a registry is in the namespace of one of the stack's profiles", "add the profile by WithProfiles")
		}
		validateQuantity(p, path+".size", r.size)
		for j, namespace := range r.admitted {
			if errs := validation.IsDNS1123Label(namespace); len(errs) > 0 {
				p.Add(fmt.Sprintf("%s.accessFrom[%d]", path, j), namespace, "a namespace is at most 63 lower-case letters, digits and hyphens", "use the name of a namespace")
			}
		}
	}
}
