package admintest_test

import (
	"flag"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/flyte/admin/admintest"
	"github.com/stretchr/testify/require"
)

// realServer is a flyteadmin to try the contract on, whose answers say whether
// adminfake tells the truth:
//
//	go test ./flyte/admin/admintest -flyteadmin http://127.0.0.1:8088 -launchplan team1/development/canary.main/v1
var (
	realServer = flag.String("flyteadmin", "", "URL of a flyteadmin without login to run the contract on")
	realPlan   = flag.String("launchplan", "", "a launch plan there that takes no inputs: project/domain/name/version")
)

func TestContractOnARealServer(t *testing.T) {
	if *realServer == "" {
		t.Skip("no -flyteadmin is given")
	}
	var options []admintest.Option
	if *realPlan != "" {
		parts := strings.SplitN(*realPlan, "/", 4)
		require.Len(t, parts, 4)
		options = append(options, admintest.WithLaunchPlan(admin.LaunchPlanID{Project: parts[0], Domain: parts[1], Name: parts[2], Version: parts[3]}))
	}
	admintest.Run(t, func(t *testing.T) *admin.Client {
		client, err := admin.New(*realServer)
		require.NoError(t, err)
		return client
	}, options...)
}

var plan = admin.LaunchPlanID{Project: "team1", Domain: "development", Name: "canary.main", Version: "v1"}

func fake(options ...adminfake.Option) *adminfake.Fake {
	return adminfake.New(append([]adminfake.Option{
		adminfake.WithProjects("team1"), adminfake.WithLaunchPlans(adminfake.LaunchPlan{ID: plan}), adminfake.WithPhases(admin.PhaseRunning),
	}, options...)...)
}

func TestContractWithoutANetwork(t *testing.T) {
	admintest.Run(t, func(t *testing.T) *admin.Client {
		client, err := fake().Client(admin.WithRetries(0))
		require.NoError(t, err)
		return client
	}, admintest.WithLaunchPlan(plan))
}

func TestContractOverHTTP(t *testing.T) {
	server := httptest.NewServer(fake())
	defer server.Close()
	admintest.Run(t, func(t *testing.T) *admin.Client {
		client, err := admin.New(server.URL, admin.WithRetries(0))
		require.NoError(t, err)
		return client
	}, admintest.WithLaunchPlan(plan))
}

func TestContractOverTLSWithALogin(t *testing.T) {
	server := httptest.NewTLSServer(fake(adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: "s3cret"})))
	defer server.Close()
	admintest.Run(t, func(t *testing.T) *admin.Client {
		client, err := admin.New(server.URL, admin.WithHTTPClient(server.Client()),
			admin.WithClientCredentials(admin.ClientCredentials{ID: "installer", Secret: planewright.SecretValue("s3cret")}))
		require.NoError(t, err)
		return client
	}, admintest.WithLaunchPlan(plan))
}
