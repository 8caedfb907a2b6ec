package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/repo"
	"sigs.k8s.io/yaml"
)

const (
	// maxIndex is how big a repository's index may be.
	maxIndex = 256 << 20
	// downloadTimeout bounds one download.
	downloadTimeout = 5 * time.Minute
	// maxNamed is how many versions an error names.
	maxNamed = 5
)

// ChartOption changes how a chart repository is reached.
type ChartOption func(*repository)

// WithChartCredentials logs in to the repository with a user name and a
// password. They are sent to the repository's own host only, and kept in memory.
func WithChartCredentials(user string, password planewright.Secret) ChartOption {
	return func(r *repository) { r.user, r.password = user, password }
}

// WithChartTransport sends the requests through the round tripper, for a proxy
// or certificate authorities of one's own. The default is that of net/http.
func WithChartTransport(transport http.RoundTripper) ChartOption {
	return func(r *repository) { r.http.Transport = transport }
}

// WithLoopbackHTTP allows http to this machine itself, for tests. Anything else
// must be https.
func WithLoopbackHTTP() ChartOption {
	return func(r *repository) { r.loopback = true }
}

// ChartRepository returns a source of the charts of a repository, by its URL
// ("https://flyteorg.github.io/flyte"). Its index is read once, when a chart is
// asked for, and each chart is downloaded once. Nothing is kept on disk. A chart
// must be asked for by name and version; its archive must have the digest that
// is asked for and the one that the index names.
func ChartRepository(address string, opts ...ChartOption) kube.ChartSource {
	r := &repository{address: strings.TrimSuffix(address, "/"), http: &http.Client{}}
	for _, opt := range opts {
		opt(r)
	}
	r.http.CheckRedirect = r.redirect
	return r
}

// repository is a chart repository.
type repository struct {
	address  string
	user     string
	password planewright.Secret
	loopback bool
	http     *http.Client

	index  once[struct{}, *repo.IndexFile]
	charts once[kube.ChartRef, *kube.Chart]
}

// Chart implements [kube.ChartSource].
func (r *repository) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	if ref.Name == "" || ref.Version == "" {
		var p planewright.Problems
		if ref.Name == "" {
			p.Add("name", "", "a chart of a repository has a name", "")
		}
		if ref.Version == "" {
			p.Add("version", "", "a chart of a repository is asked for by version", "the newest one may be anything tomorrow")
		}
		return nil, p.Err("chart reference")
	}
	return r.charts.do(ctx, ref, func(ctx context.Context) (*kube.Chart, error) {
		index, err := r.index.do(ctx, struct{}{}, r.readIndex)
		if err != nil {
			return nil, err
		}
		return r.download(ctx, index, ref)
	})
}

func (r *repository) readIndex(ctx context.Context) (*repo.IndexFile, error) {
	data, err := r.get(ctx, r.address+"/index.yaml", maxIndex)
	if err != nil {
		return nil, err
	}
	index := &repo.IndexFile{}
	if err := yaml.Unmarshal(data, index); err != nil {
		return nil, r.invalid(fmt.Errorf("its index.yaml cannot be read: %w", err))
	}
	if index.APIVersion == "" {
		return nil, r.invalid(errors.New("its index.yaml is not that of a chart repository: there is no apiVersion"))
	}
	return index, nil
}

func (r *repository) download(ctx context.Context, index *repo.IndexFile, ref kube.ChartRef) (*kube.Chart, error) {
	versions := slices.DeleteFunc(slices.Clone(index.Entries[ref.Name]), func(v *repo.ChartVersion) bool { return v == nil || v.Metadata == nil })
	at := slices.IndexFunc(versions, func(v *repo.ChartVersion) bool { return sameVersion(v.Version, ref.Version) })
	if at < 0 {
		return nil, missingChart(r.String(), ref, known(index, versions))
	}
	version := versions[at]
	if len(version.URLs) == 0 {
		return nil, r.invalid(fmt.Errorf("its index names no URL for %s", chartName(ref)))
	}
	address, err := repo.ResolveReferenceURL(r.address, version.URLs[0])
	if err != nil {
		return nil, r.invalid(err)
	}
	data, err := r.get(ctx, address, loader.MaxDecompressedChartSize)
	if err != nil {
		return nil, err
	}
	if digest := strings.TrimPrefix(version.Digest, "sha256:"); digest != "" {
		if _, err := fromArchive(data, address, kube.ChartRef{Digest: "sha256:" + digest}); err != nil {
			return nil, err
		}
	}
	return fromArchive(data, address, ref)
}

// known tells what there is instead of a chart that is not.
func known(index *repo.IndexFile, versions []*repo.ChartVersion) string {
	var names []string
	what := "versions"
	for _, v := range versions {
		names = append(names, v.Version)
	}
	if len(names) == 0 {
		what = "charts"
		for name := range index.Entries {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "the repository is empty"
	}
	return "there are the " + what + " " + strings.Join(names, ", ")
}

// get downloads a file into memory.
func (r *repository) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, downloadTimeout, errNoAnswer)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil {
		// Its text quotes the URL, which may hold a password.
		return nil, r.invalid(errors.New("a URL of it cannot be parsed"))
	}
	if err := r.allowed(u); err != nil {
		return nil, r.invalid(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, r.invalid(err)
	}
	request.Header.Set("User-Agent", userAgent)
	if r.isOwn(u) && !r.password.IsZero() {
		password, err := r.password.Resolve(ctx)
		if err != nil {
			return nil, &callError{op: "download from", object: r.String(), err: err}
		}
		request.SetBasicAuth(r.user, string(password))
	}
	response, err := r.http.Do(request)
	if err != nil {
		return nil, r.unreachable(ctx, u, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, r.refused(u, response)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, r.unreachable(ctx, u, err)
	}
	if int64(len(data)) > limit {
		return nil, r.invalid(fmt.Errorf("%s is bigger than %d bytes", redactURL(u), limit))
	}
	return data, nil
}

// allowed tells whether an address may be asked.
func (r *repository) allowed(u *url.URL) error {
	switch {
	case u.Host == "":
		return fmt.Errorf("%q is not the URL of a chart repository, as https://host/path", redactURL(u))
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && r.loopback && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("%s is not encrypted; use https", redactURL(u))
	}
	return fmt.Errorf("%s: charts are downloaded over https only", redactURL(u))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isOwn reports whether an address is on the repository's own host.
func (r *repository) isOwn(u *url.URL) bool {
	own, err := url.Parse(r.address)
	return err == nil && own.Scheme == u.Scheme && own.Host == u.Host
}

// redirect follows redirects, without taking credentials to another host.
func (r *repository) redirect(request *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("it redirects too often")
	}
	if err := r.allowed(request.URL); err != nil {
		return err
	}
	if !r.isOwn(request.URL) {
		request.Header.Del("Authorization")
	}
	return nil
}

func (r *repository) refused(u *url.URL, response *http.Response) error {
	e := &callError{op: "download", object: redactURL(u) + " of " + r.String(), err: fmt.Errorf("%s answers %s", u.Host, response.Status)}
	switch code := response.StatusCode; code {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.sentinel, e.hint = planewright.ErrDenied, "the credentials that were given for "+u.Host+" are not accepted"
		if r.password.IsZero() || !r.isOwn(u) {
			e.hint = "no credentials were given for " + u.Host
		}
	case http.StatusNotFound, http.StatusGone:
		e.sentinel, e.hint = planewright.ErrNotFound, "is the URL that of a chart repository?"
	case http.StatusTooManyRequests:
		e.sentinel, e.retry = planewright.ErrThrottled, true
	default:
		e.sentinel, e.retry = planewright.ErrUnavailable, code >= http.StatusInternalServerError
	}
	return e
}

func (r *repository) unreachable(ctx context.Context, u *url.URL, err error) error {
	v := judgeNetwork(u.Host, func() string { return "" }, err)
	if err := ctx.Err(); err != nil && !errors.Is(context.Cause(ctx), errNoAnswer) {
		v = verdict{sentinel: ended(err)}
	}
	var redirected *url.Error
	if errors.As(err, &redirected) {
		err = redirected.Err // without the URL, which may hold a password
	}
	return &callError{op: "download", object: redactURL(u) + " of " + r.String(), verdict: v, err: err}
}

func (r *repository) invalid(err error) error {
	return &callError{op: "use", object: r.String(), verdict: verdict{sentinel: planewright.ErrInvalid}, err: err}
}

// String names the repository without what may be secret in its URL.
func (r *repository) String() string {
	u, err := url.Parse(r.address)
	if err != nil {
		return "chart repository"
	}
	return "chart repository " + redactURL(u)
}

// redactURL prints a URL without user, password and query.
func redactURL(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	return shown.String()
}
