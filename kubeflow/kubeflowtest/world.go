package kubeflowtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/planewright/planewright/kubeflow"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// The names of the clusters, and the host that the platform knows from the start.
const (
	Global   = "global"
	Workload = "workload"
	Host     = "kubeflow.acme.example"
)

const (
	// reaction is how long the simulation takes to notice a change.
	reaction = 3 * time.Millisecond
	// patience is how long it waits for what comes by itself: a pod that becomes
	// ready; twice as long each time, up to maxPatience.
	patience    = 10 * time.Millisecond
	maxPatience = 2 * time.Second
	// retry is how long it waits after a call that failed.
	retry = 200 * time.Millisecond
	// poll is how often it looks at API servers.
	poll = 200 * time.Millisecond
)

// World is a platform: in memory, or on API servers, see [NewWorldOn]. It is safe
// for concurrent use.
type World struct {
	// Fleet are the clusters in memory, for faults and the call log; nil for a
	// platform on API servers.
	Fleet *kubefake.Fleet

	places map[string]place
	// configs are how the API servers are reached, nil for a platform in memory.
	configs map[string]*rest.Config

	mu       sync.Mutex
	packages []Package
	faults   map[string]Fault
	timer    *time.Timer
	running  bool
	// idle tells that the last look has changed nothing and waits for nothing.
	idle   bool
	closed bool
	// turn keeps one simulation running at a time, patience is how long it will wait next.
	turn     sync.Mutex
	patience time.Duration
}

// Option says what a world is like from the start.
type Option func(*settings)

type settings struct {
	meshV1      bool
	noMesh      bool
	packages    []Package
	global      []runtime.Object
	workload    []runtime.Object
	without     []string
	platformURL []string
}

// WithMeshV1 gives the workload cluster a service mesh of version 1 instead of version 2.
func WithMeshV1() Option { return func(s *settings) { s.meshV1 = true } }

// WithoutMesh leaves the service mesh out.
func WithoutMesh() Option { return func(s *settings) { s.noMesh = true } }

// WithPackages replaces the packages of the catalog, [Packages] by default.
func WithPackages(packages ...Package) Option {
	return func(s *settings) { s.packages = packages }
}

// WithAccessURLs replaces the platform's further access URLs, https://[Host] by default.
func WithAccessURLs(urls ...string) Option {
	return func(s *settings) { s.platformURL = append([]string{}, urls...) }
}

// WithGlobalObjects adds objects to the global cluster.
func WithGlobalObjects(objects ...runtime.Object) Option {
	return func(s *settings) { s.global = append(s.global, objects...) }
}

// WithWorkloadObjects adds objects to the workload cluster.
func WithWorkloadObjects(objects ...runtime.Object) Option {
	return func(s *settings) { s.workload = append(s.workload, objects...) }
}

// WithoutDefinition leaves out a definition that the workload cluster has by
// default, and what is of its kind: "subscriptions.operators.coreos.com".
func WithoutDefinition(name string) Option {
	return func(s *settings) { s.without = append(s.without, name) }
}

func newSettings(options []Option) settings {
	s := settings{packages: Packages(), platformURL: []string{"https://" + Host}}
	for _, o := range options {
		o(&s)
	}
	return s
}

// NewWorld makes a platform in memory, with Alauda AI and KServe, LeaderWorkerSet, a
// service mesh of version 2, the packages of [Packages], and the access URL https://[Host].
func NewWorld(options ...Option) *World {
	s := newSettings(options)
	w := &World{Fleet: kubefake.NewFleet(Global, Workload), packages: s.packages, faults: map[string]Fault{}, places: map[string]place{}}
	for _, name := range []string{Global, Workload} {
		client, err := dynamic.NewForConfig(w.Fleet.Config(name))
		if err != nil {
			panic("kubeflowtest: " + err.Error())
		}
		w.places[name] = memory{w.Fleet, name, client}
	}
	w.Fleet.Configure(Global, kubefake.WithObjects(s.globalObjects()...))
	w.Fleet.Configure(Workload, kubefake.WithObjects(s.workloadObjects()...))
	w.Fleet.Configure(Workload, kubefake.WithLoadBalancers(5*time.Millisecond), kubefake.WithVersion("v1.34.1"))
	w.settle()
	w.Fleet.OnCall(func(call kubefake.CallRecord) {
		// A lock and an inventory are nothing to any controller.
		if call.Persisted && call.Kind != "Lease" && call.Kind != "ConfigMap" || call.Persisted && call.Namespace == "istio-system" {
			w.kick(reaction)
		}
	})
	w.simulate()
	w.Fleet.ForgetCalls()
	return w
}

// settle waits until the definitions are served.
func (w *World) settle() {
	for _, cluster := range []string{Global, Workload} {
		for slices.ContainsFunc(w.Fleet.Objects(cluster), func(o *object) bool {
			return o.GetKind() == "CustomResourceDefinition" && !hasCondition(o, "Established")
		}) {
			<-time.After(time.Millisecond)
		}
	}
}

// Env returns the clusters as stacks are installed on them. Every call makes
// new handles: a new process, so to speak.
func (w *World) Env() kubeflow.Env {
	return kubeflow.NewEnv(w.Cluster(Global), w.Cluster(Workload))
}

// Cluster returns a handle on one of the clusters.
func (w *World) Cluster(name string) kube.Cluster {
	if w.configs == nil {
		return w.Fleet.Cluster(name)
	}
	cluster, err := live.FromConfig(name, w.configs[name])
	if err != nil {
		panic("kubeflowtest: " + err.Error())
	}
	return cluster
}

// Release returns Kubeflow 26.03 with the pins that [Packages] offers.
func (w *World) Release() kubeflow.Release { return Release() }

// Release returns Kubeflow 26.03 with the pins that [Packages] offers.
func Release() kubeflow.Release {
	return kubeflow.Release2603().
		WithPin(kubeflow.ComponentBase, "kfbase-operator.v26.3.0").
		WithPin(kubeflow.ComponentPipelines, "kfp-operator.v26.3.1").
		WithPin(kubeflow.ComponentModelRegistry, "model-registry-operator.v0.3.0")
}

// Close ends the simulation, and clusters in memory.
func (w *World) Close() {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.turn.Lock() // a look that is under way ends first
	defer w.turn.Unlock()
	if w.Fleet != nil {
		w.Fleet.Close()
	}
}

// Break has something fail, in place of how it failed before. What it is that
// fails is said by [Fault].
func (w *World) Break(what string, fault Fault) {
	w.mu.Lock()
	w.faults[what] = fault
	w.mu.Unlock()
	w.kick(reaction)
}

// Mend takes back what Break said of something.
func (w *World) Mend(what string) {
	w.mu.Lock()
	delete(w.faults, what)
	w.mu.Unlock()
	w.kick(reaction)
}

// Offer adds packages to the catalog. One with the name of a package that is
// there takes its place.
func (w *World) Offer(packages ...Package) {
	w.mu.Lock()
	w.packages = slices.Clone(w.packages)
	for _, p := range packages {
		if i := slices.IndexFunc(w.packages, func(have Package) bool { return have.Name == p.Name }); i >= 0 {
			w.packages[i] = p
		} else {
			w.packages = append(w.packages, p)
		}
	}
	w.mu.Unlock()
	w.kick(reaction)
}

// Add creates objects in a cluster, past its call log, as somebody else would. It
// panics if one of them is refused.
func (w *World) Add(cluster string, objects ...runtime.Object) {
	if w.configs == nil {
		w.Fleet.Configure(cluster, kubefake.WithObjects(objects...))
	} else if err := w.furnish(context.Background(), cluster, objects); err != nil {
		panic("kubeflowtest: " + err.Error())
	}
	w.kick(reaction)
}

// kick has the simulation run soon.
func (w *World) kick(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.timer != nil {
		return
	}
	w.timer = time.AfterFunc(after, func() {
		w.mu.Lock()
		w.timer, w.running = nil, true
		closed := w.closed
		w.mu.Unlock()
		if !closed {
			w.simulate()
		}
		w.mu.Lock()
		w.running = false
		w.mu.Unlock()
	})
}

// Settle waits until the simulation has nothing more to do.
func (w *World) Settle() {
	for {
		w.mu.Lock()
		settled := w.closed || !w.running && (w.timer == nil || w.configs != nil && w.idle)
		w.mu.Unlock()
		if settled {
			return
		}
		<-time.After(time.Millisecond)
	}
}

// simulate has every controller look at everything once.
func (w *World) simulate() {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	r := &round{places: w.places, packages: w.packages, faults: maps.Clone(w.faults)}
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return
	}
	r.run()
	w.mu.Lock()
	w.idle = r.err == nil && !r.wrote && !r.waiting
	w.mu.Unlock()
	switch {
	case r.err != nil:
		w.kick(retry)
	case r.wrote:
		w.patience = patience
		w.kick(reaction)
	case r.waiting:
		w.patience = max(w.patience, patience)
		w.kick(w.patience)
		w.patience = min(2*w.patience, maxPatience)
	}
	if w.configs != nil {
		w.kick(poll) // unless it looks sooner
	}
}

func (w *World) String() string {
	return fmt.Sprintf("a platform of clusters %s and %s", Global, Workload)
}
