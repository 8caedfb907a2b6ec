package gke

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	container "cloud.google.com/go/container/apiv1"
	admin "cloud.google.com/go/iam/admin/apiv1"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"
)

// Config is what an account is made of. Clients that are nil cannot be asked:
// what needs one is an error that matches planewright.ErrUnsupported.
type Config struct {
	// Project is the project's id, Location the region (or zone) of its clusters.
	Project, Location string

	Container Container
	IAM       IAM
	Storage   Storage
	// Tokens are for the clusters' API.
	Tokens oauth2.TokenSource
}

// cloudPlatform is the scope that GKE's API servers ask of a token.
const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

// Open makes an account of Google's application default credentials. The
// function that it returns closes the connections; it is never nil.
func Open(ctx context.Context, project, location string, options ...Option) (cloud.Account, func() error, error) {
	nothing := func() error { return nil }
	credentials, err := google.FindDefaultCredentials(ctx, cloudPlatform)
	if err != nil {
		return cloud.Account{}, nothing, fmt.Errorf("google's credentials: %w: %w; log in: gcloud auth application-default login", planewright.ErrDenied, err)
	}
	use := option.WithTokenSource(credentials.TokenSource)
	clusters, err := container.NewClusterManagerClient(ctx, use)
	if err != nil {
		return cloud.Account{}, nothing, failure("container.connect", planewright.Object{}, err)
	}
	identities, err := admin.NewIamClient(ctx, use)
	if err != nil {
		return cloud.Account{}, nothing, errors.Join(failure("iam.connect", planewright.Object{}, err), clusters.Close())
	}
	shut := func() error { return errors.Join(clusters.Close(), identities.Close()) }
	service, err := storage.NewService(ctx, use)
	if err != nil {
		return cloud.Account{}, nothing, errors.Join(failure("storage.connect", planewright.Object{}, err), shut())
	}
	return New(Config{Project: project, Location: location, Container: clusters, IAM: identities, Storage: NewStorage(service), Tokens: credentials.TokenSource}, options...), shut, nil
}

// New makes an account of clients. It asks nothing.
func New(config Config, options ...Option) cloud.Account {
	p := &project{Config: config, settings: settings{wait: realWait}}
	for _, option := range options {
		option(&p.settings)
	}
	return cloud.Account{
		Provider: cloud.GCP, ID: config.Project, Location: config.Location,
		Clusters: &clusters{p}, Identities: &identities{p}, Buckets: &buckets{p},
		Prune: p.prune,
	}
}

// project is one project in one region.
type project struct {
	Config
	settings
	// writing keeps writers of one bucket's policy apart in this process;
	// etags would make all but one of them begin again.
	writing sync.Map
}

// lock returns the lock of a bucket's policy.
func (p *project) lock(bucket string) *sync.Mutex {
	lock, _ := p.writing.LoadOrStore(bucket, &sync.Mutex{})
	return lock.(*sync.Mutex) //nolint:forcetypeassert // nothing else is stored
}

// EndpointKind says which of a cluster's endpoints is used.
type EndpointKind string

// The endpoints of a cluster.
const (
	// PublicEndpoint is reached from everywhere. It is the default.
	PublicEndpoint EndpointKind = "public"
	// PrivateEndpoint is reached from inside the network.
	PrivateEndpoint EndpointKind = "private"
	// DNSEndpoint is a name at Google's front, which IAM guards. Its certificate
	// is signed by a public authority.
	DNSEndpoint EndpointKind = "DNS"
)

type settings struct {
	endpoint EndpointKind
	wait     func(ctx context.Context, d time.Duration) error
}

// Option says how an account is used.
type Option func(*settings)

// WithEndpoint sets by which endpoint clusters are reached. By default [PublicEndpoint].
func WithEndpoint(kind EndpointKind) Option { return func(s *settings) { s.endpoint = kind } }

// realWait waits, or until the context ends.
func realWait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
