package eks

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// Config is what an account is made of. Clients that are nil cannot be asked:
// what needs one is an error that matches planewright.ErrUnsupported.
type Config struct {
	// AccountID and Region are the account's number and the region of its clusters.
	AccountID, Region string
	// Partition is that of the region, if it is empty.
	Partition policy.Partition
	// Caller is the ARN of the credentials in use, a user's or a role's
	// session; only [ProvisionAccess] needs it. Open asks for it.
	Caller string

	IAM    IAM
	EKS    EKS
	S3     S3
	KMS    KMS
	Signer Presigner
}

// Open makes an account of the SDK's configuration (config.LoadDefaultConfig):
// its credentials and its region. It asks STS once, for the account's number.
// The configuration's own retries of throttled calls stay as they are.
func Open(ctx context.Context, configuration aws.Config, options ...Option) (cloud.Account, error) {
	if configuration.Region == "" {
		return cloud.Account{}, fmt.Errorf("no region is configured; set AWS_REGION or config.WithRegion: %w", planewright.ErrInvalid)
	}
	client := sts.NewFromConfig(configuration)
	who, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return cloud.Account{}, failure("sts:GetCallerIdentity", planewright.Object{}, err)
	}
	arn, err := policy.ParseARN(aws.ToString(who.Arn))
	if err != nil {
		return cloud.Account{}, fmt.Errorf("sts:GetCallerIdentity: %w", err)
	}
	return New(Config{
		AccountID: aws.ToString(who.Account), Region: configuration.Region, Partition: arn.Partition, Caller: arn.String(),
		IAM:    iam.NewFromConfig(configuration),
		EKS:    eks.NewFromConfig(configuration),
		S3:     s3.NewFromConfig(configuration),
		KMS:    kms.NewFromConfig(configuration),
		Signer: stsPresigner{sts.NewPresignClient(client)},
	}, options...), nil
}

// New makes an account of clients. It asks nothing.
func New(config Config, options ...Option) cloud.Account {
	if config.Partition == "" {
		config.Partition = policy.PartitionOf(config.Region)
	}
	a := &account{Config: config, settings: settings{path: "/", wait: realWait}}
	for _, option := range options {
		option(&a.settings)
	}
	return cloud.Account{
		Provider: cloud.AWS, ID: config.AccountID, Location: config.Region,
		Clusters: &clusters{a}, Identities: &identities{a}, Buckets: &buckets{a},
		Prune: a.prune,
	}
}

// account is one AWS account in one region.
type account struct {
	Config
	settings
	// writing keeps writers of one role apart in this process; IAM has no
	// means to keep apart those of several.
	writing sync.Map
}

// lock returns the lock of a role's trust policy.
func (a *account) lock(role string) *sync.Mutex {
	lock, _ := a.writing.LoadOrStore(role, &sync.Mutex{})
	return lock.(*sync.Mutex) //nolint:forcetypeassert // nothing else is stored
}

// IdentityMode says how pods get a role.
type IdentityMode string

// The identity modes.
const (
	// IRSA is a token of the cluster that IAM takes, by an OIDC provider for
	// each cluster and a trust policy that names them all. It is the default,
	// and knows patterns of namespaces; the trust policy's length is bounded.
	IRSA IdentityMode = "IRSA"
	// PodIdentity is EKS Pod Identity: an association in each cluster for each
	// ServiceAccount. It needs the agent in the cluster, and nodes on EC2 with Linux.
	PodIdentity IdentityMode = "PodIdentity"
	// Hybrid is Pod Identity for ServiceAccounts that are named, and IRSA for patterns.
	Hybrid IdentityMode = "Hybrid"
)

// settings are what options set.
type settings struct {
	path, boundary string
	tags           map[string]string
	mode           IdentityMode
	audience       string
	trustLimit     int
	dropDeleted    bool
	admins         []string
	wait           func(ctx context.Context, d time.Duration) error
}

// Option says how what is made in the account is made.
type Option func(*settings)

// WithPath sets the path of roles and policies: "/flyte/". By default "/".
func WithPath(path string) Option { return func(s *settings) { s.path = path } }

// WithPermissionsBoundary bounds every role that is made by a managed policy,
// which an organisation may demand. Empty means none.
func WithPermissionsBoundary(policyARN string) Option {
	return func(s *settings) { s.boundary = policyARN }
}

// WithTags adds tags to whatever is made.
func WithTags(tags map[string]string) Option {
	return func(s *settings) {
		if s.tags == nil {
			s.tags = map[string]string{}
		}
		for key, value := range tags {
			s.tags[key] = value
		}
	}
}

// WithIdentityMode sets how pods get their roles. By default [IRSA]. When it is
// changed later, trust in clusters that is not needed any more is taken out of
// a role; trust in EKS Pod Identity stays, since others may have put it there.
func WithIdentityMode(mode IdentityMode) Option { return func(s *settings) { s.mode = mode } }

// WithAudience sets the audience of the tokens, which the annotation
// eks.amazonaws.com/audience of a ServiceAccount changes. By default
// "sts.amazonaws.com", in every partition.
func WithAudience(audience string) Option { return func(s *settings) { s.audience = audience } }

// WithTrustPolicyLimit sets how many characters a trust policy may have. By
// default it is asked from the account, and 2048 where that may not be asked.
func WithTrustPolicyLimit(characters int) Option {
	return func(s *settings) { s.trustLimit = characters }
}

// WithoutDeletedPrincipals is the opt-in to take roles and users that were
// deleted out of trust policies that are written: IAM shows their ids (AROA…,
// AIDA…) and takes no document that names one. By default such a role is
// blocked, since what they were for is not known. A plan shows what goes.
func WithoutDeletedPrincipals() Option { return func(s *settings) { s.dropDeleted = true } }

// WithClusterAdministrators has every cluster that is made let these roles and
// users administer it, see [ProvisionAccess]. By default nobody but who made it.
func WithClusterAdministrators(principalARNs ...string) Option {
	return func(s *settings) { s.admins = append(slices.Clip(s.admins), principalARNs...) }
}

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

// stsPresigner is a Presigner on the SDK.
type stsPresigner struct{ client *sts.PresignClient }

// tokenSeconds is how long a presigned URL is said to be good for. A cluster
// takes it for 15 minutes whatever it says.
const tokenSeconds = 60

// PresignIdentity implements [Presigner].
func (p stsPresigner) PresignIdentity(ctx context.Context, cluster string) (string, error) {
	request, err := p.client.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, sts.WithPresignClientFromClientOptions(func(o *sts.Options) {
		o.APIOptions = append(o.APIOptions,
			smithyhttp.SetHeaderValue("x-k8s-aws-id", cluster),
			smithyhttp.SetHeaderValue("X-Amz-Expires", strconv.Itoa(tokenSeconds)))
	}))
	if err != nil {
		return "", err
	}
	if request.Method != http.MethodGet {
		return "", fmt.Errorf("the request is a %s", request.Method)
	}
	return request.URL, nil
}
