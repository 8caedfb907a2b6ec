package eks_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is an account behind which one error is the answer to everything:
// in IAM's form at /, in EKS's below it.
func answering(t *testing.T, status int, code, message string) cloud.Account {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amzn-Requestid", "request-1")
		if r.URL.Path == "/" {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>not-this-one</RequestId></ErrorResponse>", code, message)
			return
		}
		w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":%q}`, message)
	}))
	t.Cleanup(server.Close)
	login := credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "made-up", "")
	return eks.New(eks.Config{AccountID: accountID, Region: "us-east-1",
		IAM: awsiam.New(awsiam.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login, RetryMaxAttempts: 1}),
		EKS: awseks.New(awseks.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login, RetryMaxAttempts: 1}),
	})
}

// IAM's codes have no "Exception" at their end, EKS's do, and what neither
// models (denials, throttling) comes by its code alone.
func TestWhatTheCodesOfAWSMean(t *testing.T) {
	for _, c := range []struct {
		status    int
		code      string
		kind      error
		retryable bool
	}{
		{404, "NoSuchEntity", planewright.ErrNotFound, false},
		{404, "NoSuchEntityException", planewright.ErrNotFound, false},
		{404, "ResourceNotFoundException", planewright.ErrNotFound, false},
		{409, "EntityAlreadyExists", planewright.ErrAlreadyExists, false},
		{409, "ResourceInUseException", planewright.ErrAlreadyExists, false},
		{409, "ConcurrentModification", planewright.ErrConflict, true},
		{409, "DeleteConflict", planewright.ErrConflict, false},
		{409, "LimitExceeded", planewright.ErrQuota, false},
		{400, "ResourceLimitExceededException", planewright.ErrQuota, false},
		{403, "AccessDenied", planewright.ErrDenied, false},
		{403, "AccessDeniedException", planewright.ErrDenied, false},
		{403, "ExpiredToken", planewright.ErrDenied, false},
		{400, "Throttling", planewright.ErrThrottled, true},
		{400, "ThrottlingException", planewright.ErrThrottled, true},
		{429, "TooManyRequestsException", planewright.ErrThrottled, true},
		{500, "ServiceFailure", planewright.ErrUnavailable, true},
		{503, "ServiceUnavailableException", planewright.ErrUnavailable, true},
		{400, "OpenIdIdpCommunicationError", planewright.ErrUnavailable, true},
		{428, "ResourcePropagationDelayException", planewright.ErrUnavailable, true},
		{400, "MalformedPolicyDocument", planewright.ErrInvalid, false},
		{400, "ValidationError", planewright.ErrInvalid, false},
		{400, "InvalidParameterException", planewright.ErrInvalid, false},
		{502, "SomethingNew", planewright.ErrUnavailable, true},
	} {
		account := answering(t, c.status, c.code, "what AWS says")
		_, err := account.Clusters.Describe(t.Context(), "main")
		require.ErrorIs(t, err, c.kind, "eks: %s", c.code)
		call, ok := errors.AsType[*cloud.CallError](err)
		require.True(t, ok)
		assert.Equal(t, []any{"eks:DescribeCluster", "what AWS says", "request-1", c.retryable}, []any{call.Operation, call.Message, call.RequestID, call.Retryable()}, c.code)

		p := account.Identities.Provision("flyte/ml/identity", cloud.IdentitySpec{Name: "flyte", Buckets: []cloud.BucketAccess{{Bucket: "acme-flyte"}},
			Subjects: []cloud.Subject{{Cluster: account.Cluster("main"), Namespace: "flyte", ServiceAccount: "flyteadmin"}}})
		require.NoError(t, p.Err)
		for _, step := range p.Steps {
			if step.ID != "flyte/ml/identity/flyte/policy" {
				continue
			}
			change, err := step.Check(t.Context(), planewright.NewRun())
			if errors.Is(c.kind, planewright.ErrNotFound) {
				require.NoError(t, err)
				assert.Equal(t, planewright.ActionCreate, change.Action, c.code)
				continue
			}
			require.ErrorIs(t, err, c.kind, "iam: %s", c.code)
			call, ok := errors.AsType[*cloud.CallError](err)
			require.True(t, ok)
			assert.Equal(t, []any{"iam:GetPolicy", "request-1", c.retryable}, []any{call.Operation, call.RequestID, call.Retryable()}, c.code)
		}
	}
}

func TestQuotasThatAreReachedSayWhatToDo(t *testing.T) {
	for message, want := range map[string]string{
		"Cannot exceed quota for ACLSizePerRole: 2048":                  "the trust policy is longer than the account allows",
		"Cannot exceed quota for OpenIdConnectProvidersPerAccount: 100": "delete the OIDC providers of clusters that are gone, or ask for more in Service Quotas",
		"Cannot exceed quota for RolesPerAccount: 1000":                 "ask for more in Service Quotas, or remove what is no longer needed",
	} {
		account := answering(t, http.StatusConflict, "LimitExceeded", message)
		_, err := account.Clusters.Describe(t.Context(), "main")
		call, ok := errors.AsType[*cloud.CallError](err)
		require.True(t, ok)
		assert.Equal(t, want, call.Hint)
	}
}

// Emulators and proxies answer what AWS never does.
func TestAnEmptyAnswerIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			fmt.Fprint(w, "{}")
			return
		}
		action := r.FormValue("Action")
		fmt.Fprintf(w, "<%sResponse><%sResult></%sResult></%sResponse>", action, action, action, action)
	}))
	t.Cleanup(server.Close)
	login := credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "made-up", "")
	account := eks.New(eks.Config{AccountID: accountID, Region: "us-east-1",
		IAM: awsiam.New(awsiam.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login}),
		EKS: awseks.New(awseks.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login}),
	}, eks.WithClusterAdministrators(deployer))
	identities := account.Identities.Provision("flyte/ml/identity", cloud.IdentitySpec{Name: "flyte", Buckets: []cloud.BucketAccess{{Bucket: "acme-flyte"}},
		Subjects: []cloud.Subject{{Cluster: account.Cluster("main"), Namespace: "flyte", ServiceAccount: "flyteadmin"}}})
	require.NoError(t, identities.Err)
	clusters := account.Clusters.Provision("flyte/ml/clusters", dp3())
	require.NoError(t, clusters.Err)
	for _, step := range append(identities.Steps, clusters.Steps...) {
		_, err := step.Check(t.Context(), planewright.NewRun())
		if errors.Is(err, planewright.ErrUnknown) {
			continue // it needs what another step could not tell
		}
		require.ErrorIs(t, err, planewright.ErrUnavailable, step.ID)
		require.ErrorContains(t, err, "the answer is empty", step.ID)
	}
}

func TestCredentialsThatAreMissingSayWhatToDo(t *testing.T) {
	missing := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, fmt.Errorf("no EC2 IMDS role found, operation error ec2imds: GetMetadata: %w", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")})
	})
	account := eks.New(eks.Config{AccountID: accountID, Region: "us-east-1", EKS: awseks.New(awseks.Options{Region: "us-east-1", Credentials: missing})})
	_, err := account.Clusters.Describe(t.Context(), "main")
	require.ErrorIs(t, err, planewright.ErrDenied)
	call, ok := errors.AsType[*cloud.CallError](err)
	require.True(t, ok)
	assert.Equal(t, "the SDK found no credentials; log in, or set AWS_PROFILE", call.Hint)
	assert.False(t, call.Retryable())
}
