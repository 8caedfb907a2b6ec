package eksfake

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	policy "github.com/planewright/planewright/cloud/iam"
)

// Fake is one AWS account in one region, in memory. It may be used from any
// number of goroutines.
type Fake struct {
	account, region string
	partition       policy.Partition

	mu        sync.Mutex
	serial    int
	roles     map[string]*versioned[role] // by the name in lower case
	policies  map[string]*versioned[managedPolicy]
	providers map[string]*versioned[provider]
	clusters  map[string]*cluster
	buckets   map[string]Bucket
	keys      map[string]bool
	quotas    map[string]int32
	lag       int
	latency   time.Duration
	pace      time.Duration
	killed    bool
	rules     []*rule
	calls     []CallRecord
	peers     []*Fake
}

// New makes an account that has active clusters of the given names, with
// nodes, and nothing else.
func New(account, region string, clusters ...string) *Fake {
	f := &Fake{
		account: account, region: region, partition: policy.PartitionOf(region),
		roles: map[string]*versioned[role]{}, policies: map[string]*versioned[managedPolicy]{}, providers: map[string]*versioned[provider]{},
		clusters: map[string]*cluster{}, buckets: map[string]Bucket{}, keys: map[string]bool{},
		quotas: map[string]int32{
			"AssumeRolePolicySizeQuota": policy.DefaultTrustPolicyLimit, "PolicySizeQuota": policy.DefaultPolicyLimit,
			"AttachedPoliciesPerRoleQuota": 10, "VersionsPerPolicyQuota": versions, "RolesQuota": 1000, "PoliciesQuota": 1500, "Providers": 0,
		},
	}
	for _, name := range clusters {
		f.AddCluster(name)
	}
	return f
}

// Account returns the account through the real adapter.
func (f *Fake) Account(options ...eks.Option) cloud.Account {
	return eks.New(f.Config(), options...)
}

// Config returns what an account is made of, with the fake's clients.
func (f *Fake) Config() eks.Config {
	return eks.Config{AccountID: f.account, Region: f.region, Partition: f.partition, Caller: f.caller(), IAM: f.IAM(), EKS: f.EKS(), S3: f.S3(), KMS: f.KMS(), Signer: f}
}

// SetQuota sets a quota by its name in GetAccountSummary, for example
// "AssumeRolePolicySizeQuota".
func (f *Fake) SetQuota(name string, value int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quotas[name] = int32(value) //nolint:gosec // a quota is small
}

// SetLag has IAM answer with the state before a write for the given number of
// reads of the same object after it, as its replicas do. By default 0.
func (f *Fake) SetLag(reads int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = reads
}

// SetLatency has every call take this long. By default none.
func (f *Fake) SetLatency(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = d
}

// SetPace has clusters and node groups take this long to be made. By default
// they are ready when they are looked at for the first time.
func (f *Fake) SetPace(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace = d
}

// Knows makes the principals of other accounts known, so that policies may
// name them.
func (f *Fake) Knows(others ...*Fake) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peers = append(f.peers, others...)
}

// next is a number of its own.
func (f *Fake) next() int {
	f.serial++
	return f.serial
}

// versioned is an object of IAM with what replicas still show of it.
type versioned[T any] struct {
	now *T
	// before is shown to the next stale reads; nil means that it was not there.
	before *T
	stale  int
}

// read returns what the next reader sees, nil for nothing.
func (v *versioned[T]) read() *T {
	if v == nil {
		return nil
	}
	if v.stale > 0 {
		v.stale--
		return v.before
	}
	return v.now
}

// write replaces the object; readers lag behind.
func write[T any](f *Fake, all map[string]*versioned[T], key string, now *T) {
	v := all[key]
	if v == nil {
		v = &versioned[T]{}
		all[key] = v
	}
	v.before, v.now, v.stale = v.now, now, f.lag
}

// current returns the object as it is, nil for none.
func current[T any](all map[string]*versioned[T], key string) *T {
	if v := all[key]; v != nil {
		return v.now
	}
	return nil
}

// PresignIdentity implements [eks.Presigner] with a URL that no STS would take.
func (f *Fake) PresignIdentity(ctx context.Context, cluster string) (string, error) {
	return do(ctx, f, call{"sts:PresignGetCallerIdentity", cluster, false}, func() (string, error) {
		return fmt.Sprintf("https://sts.%s.amazonaws.com/?Action=GetCallerIdentity&X-Amz-Signature=%032x&cluster=%s", f.region, f.next(), cluster), nil
	})
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
	// Operation is service and operation: "iam:GetRole". Object is what it was about.
	Operation, Object string
	// Write tells whether it changes something.
	Write bool
	// Fault is what it met instead of an answer, empty for none.
	Fault Fault
}

// String prints the call as "iam:GetRole flyte".
func (c CallRecord) String() string { return c.Operation + " " + c.Object }
