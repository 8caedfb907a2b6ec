package adminfake

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/planewright/planewright/flyte/admin"
)

// DefaultVersion is the version that the gateway tells.
const DefaultVersion = "v1.16.8"

// Fake is flyteadmin's HTTP gateway in memory. It is made by [New], and safe
// for concurrent use.
type Fake struct {
	routes []route

	mu          sync.Mutex
	version     string
	domains     []string
	projects    map[string]fields
	attributes  []*attributesRow
	launchPlans []launchPlan
	executions  []*execution
	sequence    int
	placement   func(Execution) string
	script      []admin.Phase
	auth        *authState
	now         func() time.Time

	rules   []*Rule
	calls   []Call
	latency time.Duration
	killed  bool
}

var (
	_ http.Handler      = (*Fake)(nil)
	_ http.RoundTripper = (*Fake)(nil)
)

// New makes a flyteadmin. By default it has the domains development, staging
// and production, no project, no launch plan, no login and no latency.
func New(options ...Option) *Fake {
	f := &Fake{
		routes: routes(), version: DefaultVersion, domains: []string{"development", "staging", "production"},
		projects: map[string]fields{}, now: time.Now,
	}
	for _, option := range options {
		option(f)
	}
	return f
}

// reply is an answer on its way.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func jsonReply(status int, message any) *reply {
	body, err := json.Marshal(message)
	if err != nil { // nothing that cannot be marshalled is ever stored
		return &reply{status: http.StatusInternalServerError}
	}
	return &reply{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: body}
}

// run runs an operation, if its caller may.
func (f *Fake) run(o operation, r *request) (answer *reply, persisted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var done result
	err := f.authenticate(o, r)
	if err == nil {
		done, err = o.run(f, r)
	}
	if err != nil {
		var failed *status
		if !errors.As(err, &failed) {
			failed = statusf(admin.CodeUnknown, "%v", err)
		}
		return jsonReply(failed.http(), failed.body()), false
	}
	if done.raw != nil {
		return done.raw, false
	}
	return jsonReply(http.StatusOK, done.schema.render(done.message, camel(r.header))), done.persisted
}

func (f *Fake) health(*request) (result, error) {
	return result{raw: &reply{status: http.StatusOK}}, nil
}

func (f *Fake) getVersion(*request) (result, error) {
	return result{schema: versionSchema(), message: fields{
		"control_plane_version": fields{"Version": f.version, "Build": "unknown", "BuildTime": "unknown"},
	}}, nil
}

func (f *Fake) getDomains(*request) (result, error) {
	return result{schema: schema{{name: "domains", kind: object, of: domainSchema(), repeated: true}}, message: fields{"domains": f.domainList()}}, nil
}

func (f *Fake) domainList() []any {
	list := make([]any, len(f.domains))
	for i, d := range f.domains {
		list[i] = fields{"id": d, "name": d}
	}
	return list
}

func (f *Fake) hasDomain(domain string) bool { return slices.Contains(f.domains, domain) }

// timestamp is the time now, as protocol buffers write it.
func (f *Fake) timestamp() string { return f.now().UTC().Format(time.RFC3339Nano) }
