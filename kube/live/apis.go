package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// apisTTL is how long what the API server serves is taken to stay the same.
// What is missing is looked for again at once.
const apisTTL = 10 * time.Minute

// apis knows what the API server serves. It asks once, with two requests to a
// server that offers aggregated discovery, and again when something is missing.
type apis struct {
	client *discovery.DiscoveryClient
	conn   *connection
	mapper *mapper

	loading chan struct{} // a semaphore that a context can give up waiting for
	mu      sync.Mutex
	current *servedAPIs
	version *version.Info
	asked   time.Time // when version was asked for
}

// servedAPIs is one answer of the API server. It does not change.
type servedAPIs struct {
	loaded    time.Time
	groups    []*metav1.APIGroup
	resources []*metav1.APIResourceList
	// kinds are the resources that serve the kinds of a version.
	kinds map[schema.GroupVersion][]metav1.APIResource
	// mapper answers what kinds cannot. It is large, so it is made when it is asked.
	mapper func() meta.RESTMapper
	// partial is why some groups are missing: an aggregated API that is down.
	partial error
}

func newAPIs(c *connection) (*apis, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, c.http)
	if err != nil {
		return nil, err
	}
	a := &apis{client: client, conn: c, loading: make(chan struct{}, 1)}
	a.mapper = &mapper{a}
	return a, nil
}

// served returns what the API server serves, from memory if it was asked before.
func (a *apis) served(ctx context.Context) (*servedAPIs, error) {
	s := a.last()
	if s != nil && time.Since(s.loaded) < apisTTL {
		return s, nil
	}
	return a.newerThan(ctx, s)
}

func (a *apis) last() *servedAPIs {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// newerThan asks again, unless somebody else has done so since old was returned.
func (a *apis) newerThan(ctx context.Context, old *servedAPIs) (*servedAPIs, error) {
	select {
	case a.loading <- struct{}{}:
		defer func() { <-a.loading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s := a.last(); s != nil && s != old {
		return s, nil
	}
	s, err := a.load(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.current = s
	a.mu.Unlock()
	return s, nil
}

func (a *apis) load(ctx context.Context) (*servedAPIs, error) {
	ctx, cancel := a.conn.context(ctx)
	defer cancel()
	groups, resources, err := discovery.ServerGroupsAndResourcesWithContext(ctx, a.client)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	if err != nil {
		a.conn.log.WarnContext(ctx, "some APIs cannot be discovered", "error", err)
	}
	kinds := make(map[schema.GroupVersion][]metav1.APIResource, len(resources))
	for _, r := range resources {
		version, err := schema.ParseGroupVersion(r.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("an API that is served: %w", err)
		}
		kinds[version] = r.APIResources
	}
	return &servedAPIs{
		loaded:    time.Now(),
		groups:    groups,
		resources: resources,
		kinds:     kinds,
		mapper:    sync.OnceValue(func() meta.RESTMapper { return newMapper(groups, kinds) }),
		partial:   err,
	}, nil
}

// newMapper makes client-go's mapper of what is served.
func newMapper(groups []*metav1.APIGroup, kinds map[schema.GroupVersion][]metav1.APIResource) meta.RESTMapper {
	list := make([]*restmapper.APIGroupResources, 0, len(groups))
	for _, g := range groups {
		r := &restmapper.APIGroupResources{Group: *g, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range g.Versions {
			if served, ok := kinds[schema.GroupVersion{Group: g.Name, Version: v.Version}]; ok {
				r.VersionedResources[v.Version] = served
			}
		}
		list = append(list, r)
	}
	return restmapper.NewDiscoveryRESTMapper(list)
}

// mapping finds the resource that serves the kind: as client-go's mapper does when
// it is given one version, without the memory that one takes for each cluster.
func (s *servedAPIs) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	for _, r := range s.kinds[gvk.GroupVersion()] {
		if r.Kind != gvk.Kind || strings.Contains(r.Name, "/") {
			continue
		}
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if r.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		return &meta.RESTMapping{Resource: gvk.GroupVersion().WithResource(r.Name), GroupVersionKind: gvk, Scope: scope}, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

// mapping finds the resource that serves the kind. A kind that is missing is
// looked for once more, since its CustomResourceDefinition may have just been
// made; then it is a NoKindMatchError.
func (a *apis) mapping(ctx context.Context, gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	return a.lookup().mapping(ctx, gvk)
}

// lookup begins an operation on several kinds that asks the API server at most
// once more, however many of them are missing.
func (a *apis) lookup() *lookup { return &lookup{apis: a} }

type lookup struct {
	apis  *apis
	fresh *servedAPIs // asked for by this operation
}

func (l *lookup) mapping(ctx context.Context, gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	served := l.fresh
	if served == nil {
		before := l.apis.last()
		var err error
		if served, err = l.apis.served(ctx); err != nil {
			return nil, err
		}
		if served != before {
			l.fresh = served
		}
	}
	m, err := served.mapping(gvk)
	if err == nil || !meta.IsNoMatchError(err) || l.fresh != nil {
		return m, err
	}
	if l.fresh, err = l.apis.newerThan(ctx, served); err != nil {
		return nil, err
	}
	return l.fresh.mapping(gvk)
}

// serverVersion asks for the API server's version.
func (a *apis) serverVersion(ctx context.Context) (*version.Info, error) {
	ctx, cancel := a.conn.context(ctx)
	defer cancel()
	v, err := a.client.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version, a.asked = v, time.Now()
	return v, nil
}

// knownVersion is the API server's version, from memory if it was asked lately.
func (a *apis) knownVersion(ctx context.Context) (*version.Info, error) {
	a.mu.Lock()
	v, asked := a.version, a.asked
	a.mu.Unlock()
	if v != nil && time.Since(asked) < apisTTL {
		return v, nil
	}
	return a.serverVersion(ctx)
}

// forget makes the next question go to the API server.
func (a *apis) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = nil
}
