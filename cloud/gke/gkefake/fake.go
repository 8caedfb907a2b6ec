package gkefake

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"golang.org/x/oauth2"
	"google.golang.org/api/storage/v1"
)

// Fake is one project in one region, in memory. It may be used from any number
// of goroutines.
type Fake struct {
	project, location string

	mu         sync.Mutex
	serial     int
	clusters   map[string]*containerpb.Cluster
	ready      map[string]time.Time
	operations map[string]*operation
	accounts   map[string]*adminpb.ServiceAccount
	policies   map[string]*iampb.Policy
	buckets    map[string]*bucket
	lag, pace  time.Duration
	seen       map[string]time.Time
	killed     bool
	rules      []*rule
	calls      []CallRecord
}

type operation struct {
	*containerpb.Operation
	cluster string
	done    time.Time
}

type bucket struct {
	*storage.Bucket
	policy *storage.Policy
}

// New makes a project that has running clusters of the given names, with
// workload identity, and nothing else.
func New(project, location string, clusters ...string) *Fake {
	f := &Fake{project: project, location: location,
		clusters: map[string]*containerpb.Cluster{}, ready: map[string]time.Time{}, operations: map[string]*operation{},
		accounts: map[string]*adminpb.ServiceAccount{}, policies: map[string]*iampb.Policy{}, buckets: map[string]*bucket{}, seen: map[string]time.Time{}}
	for _, name := range clusters {
		f.AddCluster(name)
	}
	return f
}

// Account returns the account through the real adapter.
func (f *Fake) Account(options ...gke.Option) cloud.Account { return gke.New(f.Config(), options...) }

// Config returns what an account is made of, with the fake's clients.
func (f *Fake) Config() gke.Config {
	return gke.Config{Project: f.project, Location: f.location, Container: f.Container(), IAM: f.IAM(), Storage: f.Storage(), Tokens: f}
}

// SetLag has new service accounts be known to policies only after this long,
// as Google's are. By default at once.
func (f *Fake) SetLag(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = d
}

// SetPace has clusters take this long to be made. By default they are ready
// when they are looked at for the first time.
func (f *Fake) SetPace(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace = d
}

func (f *Fake) next() int {
	f.serial++
	return f.serial
}

// etag is an etag that no other policy has.
func (f *Fake) etag() []byte { return fmt.Appendf(nil, "etag-%d", f.next()) }

// Token implements oauth2.TokenSource with a token that no one would take.
func (f *Fake) Token() (*oauth2.Token, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &oauth2.Token{AccessToken: fmt.Sprintf("ya29.made-up-%d", f.next()), Expiry: time.Now().Add(time.Hour)}, nil
}

// Calls returns the calls so far, in their order.
func (f *Fake) Calls() []CallRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Writes returns the calls so far that change something.
func (f *Fake) Writes() []CallRecord {
	return slices.DeleteFunc(f.Calls(), func(c CallRecord) bool { return !c.Write })
}

// ForgetCalls empties the log of calls.
func (f *Fake) ForgetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// CallRecord is one call that was made.
type CallRecord struct {
	// Operation is the method's name: "GetCluster". Object is what it was about.
	Operation, Object string
	// Write tells whether it changes something.
	Write bool
	// Fault is what it met instead of an answer, empty for none.
	Fault Fault
}

// String prints the call as "GetCluster main".
func (c CallRecord) String() string { return c.Operation + " " + c.Object }
