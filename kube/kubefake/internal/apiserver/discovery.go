package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/planewright/planewright/kube/kubefake/internal/apis"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
)

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discover answers what is about no object: the version, the served kinds, health.
func (s *Server) discover(r *Request) (*Reply, error) {
	if r.http.Method != http.MethodGet && r.http.Method != http.MethodHead {
		return notFoundReply(), nil
	}
	path := strings.TrimSuffix(r.http.URL.Path, "/")
	aggregated := strings.Contains(r.http.Header.Get("Accept"), "as=APIGroupDiscoveryList")
	switch path {
	case "/version":
		return s.versionReply(), nil
	case "/healthz", "/livez", "/readyz":
		return &Reply{Code: http.StatusOK, body: []byte("ok"), header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}}, nil
	case "/api":
		if aggregated {
			return s.aggregatedReply(""), nil
		}
		return jsonReply(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}), nil
	case "/apis":
		if aggregated {
			return s.aggregatedReply("apis"), nil
		}
		return jsonReply(http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: s.groups()}), nil
	case "/openapi/v2":
		return openAPIv2(r), nil
	}
	if rest, ok := strings.CutPrefix(path, "/openapi/v3"); ok {
		return s.openAPIv3(rest), nil
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) == 2 && parts[0] == "api":
		return s.resourceList(schema.GroupVersion{Version: parts[1]}), nil
	case len(parts) == 2 && parts[0] == "apis":
		for _, g := range s.groups() {
			if g.Name == parts[1] {
				g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return jsonReply(http.StatusOK, g), nil
			}
		}
	case len(parts) == 3 && parts[0] == "apis":
		return s.resourceList(schema.GroupVersion{Group: parts[1], Version: parts[2]}), nil
	}
	return notFoundReply(), nil
}

func (s *Server) versionReply() *Reply {
	info := map[string]string{
		"gitVersion": s.config.Version, "gitTreeState": "clean", "goVersion": "go1.26", "compiler": "gc", "platform": "linux/amd64",
		"major": "", "minor": "", "gitCommit": "", "buildDate": "2026-01-01T00:00:00Z",
	}
	if v, err := utilversion.ParseGeneric(s.config.Version); err == nil {
		parts := strings.Split(v.String(), ".")
		info["major"], info["minor"] = parts[0], parts[1]
	}
	return jsonReply(http.StatusOK, info)
}

// groups lists the named groups with their versions, in order of priority.
func (s *Server) groups() []metav1.APIGroup {
	var groups []metav1.APIGroup
	for _, r := range s.resources() {
		if r.Group == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g metav1.APIGroup) bool { return g.Name == r.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, metav1.APIGroup{Name: r.Group})
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: r.GroupVersion().String(), Version: r.Version}
		if !slices.Contains(groups[i].Versions, v) {
			groups[i].Versions = append(groups[i].Versions, v)
		}
	}
	for i := range groups {
		slices.SortStableFunc(groups[i].Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
		groups[i].PreferredVersion = groups[i].Versions[0]
	}
	return groups
}

func (s *Server) resourceList(gv schema.GroupVersion) *Reply {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	for _, r := range s.resources() {
		if r.GroupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: r.Plural, SingularName: singular(r), Namespaced: r.Namespaced, Kind: r.Kind,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		})
		if r.Status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: r.Plural + "/status", Namespaced: r.Namespaced, Kind: r.Kind, Verbs: statusVerbs(),
			})
		}
		if r.Scale {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: r.Plural + "/scale", Namespaced: r.Namespaced, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: statusVerbs(),
			})
		}
	}
	if len(list.APIResources) == 0 {
		return notFoundReply()
	}
	return jsonReply(http.StatusOK, list)
}

func statusVerbs() []string { return []string{"get", "patch", "update"} }

func singular(r *apis.Resource) string {
	if r.Singular != "" {
		return r.Singular
	}
	return strings.ToLower(r.Kind)
}

// builtinDiscovery is the aggregated discovery of the built-in groups, encoded
// once: the core group, and the named ones with commas in between.
var builtinDiscovery = sync.OnceValue(func() (encoded struct{ core, named []byte }) { //nolint:gochecknoglobals // made once, never changed
	var named [][]byte
	for _, g := range aggregate(apis.Builtin()) {
		b := mustJSON(g)
		if g.Name == "" {
			encoded.core = b
		} else {
			named = append(named, b)
		}
	}
	encoded.named = bytes.Join(named, []byte{','})
	return encoded
})

// aggregatedReply is discovery in one document: of the core group at /api, of
// all others at /apis.
func (s *Server) aggregatedReply(root string) *Reply {
	items := builtinDiscovery().core
	if root == "apis" {
		items = builtinDiscovery().named
		for _, g := range aggregate(s.resources()[len(apis.Builtin()):]) {
			items = slices.Concat(items, []byte{','}, mustJSON(g))
		}
	}
	body := slices.Concat([]byte(`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[`), items, []byte(`]}`))
	return &Reply{Code: http.StatusOK, body: body, header: http.Header{"Content-Type": {aggregatedType}}}
}

func aggregate(resources []*apis.Resource) []apidiscoveryv2.APIGroupDiscovery {
	var groups []apidiscoveryv2.APIGroupDiscovery
	for _, r := range resources {
		i := slices.IndexFunc(groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == r.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: r.Group}})
		}
		g := &groups[i]
		j := slices.IndexFunc(g.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == r.Version })
		if j < 0 {
			j = len(g.Versions)
			g.Versions = append(g.Versions, apidiscoveryv2.APIVersionDiscovery{Version: r.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent})
		}
		g.Versions[j].Resources = append(g.Versions[j].Resources, aggregatedResource(r))
	}
	for i := range groups {
		slices.SortStableFunc(groups[i].Versions, func(a, b apidiscoveryv2.APIVersionDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
	}
	return groups
}

func aggregatedResource(r *apis.Resource) apidiscoveryv2.APIResourceDiscovery {
	kind := metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	scope := apidiscoveryv2.ScopeCluster
	if r.Namespaced {
		scope = apidiscoveryv2.ScopeNamespace
	}
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: r.Plural, ResponseKind: &kind, Scope: scope, SingularResource: singular(r),
		Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
	}
	if r.Status {
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: &kind, Verbs: statusVerbs()})
	}
	if r.Scale {
		scale := metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: "scale", ResponseKind: &scale, Verbs: statusVerbs()})
	}
	return d
}

// mustJSON encodes what cannot fail to encode.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
