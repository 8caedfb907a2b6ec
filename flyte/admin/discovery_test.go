package admin_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEverybodyIsToldHowToLogIn(t *testing.T) {
	client, err := adminfake.New(adminfake.WithAuth(adminfake.Auth{Audience: "https://flyte.example"})).Client()
	require.NoError(t, err)
	discovery, err := client.Discover(t.Context())
	require.NoError(t, err)
	assert.Equal(t, admin.Discovery{
		Issuer: adminfake.Endpoint, AuthorizationEndpoint: adminfake.Endpoint + "/oauth2/authorize", TokenEndpoint: adminfake.Endpoint + "/oauth2/token",
		GrantTypes: []string{"client_credentials", "refresh_token", "authorization_code"}, ChallengeMethods: []string{"S256"},
		ClientID: "flytectl", RedirectURI: "http://localhost:53593/callback", Scopes: []string{"all", "offline"}, Audience: "https://flyte.example",
		Header: admin.DefaultAuthorizationHeader,
	}, discovery)
}

func TestAFlyteadminWithoutLoginsDoesNotTell(t *testing.T) {
	client, err := adminfake.New().Client()
	require.NoError(t, err)
	_, err = client.Discover(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	assert.ErrorContains(t, err, "this flyteadmin tells nothing of logins")
}
