package flyte

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func login() Auth {
	return OIDC("https://acme.okta.example", "0oa1flyte", planewright.SecretValue("people-5ecret"), planewright.SecretValue("machines-5ecret"))
}

// otherLogin has tokens given by another server.
func otherLogin() Auth {
	return login().WithScopes("openid", "email").WithAuthServer(
		ExternalAuthServer("https://acme.okta.example/oauth2/flyte", "0oa2machines", "0oa3flytectl").WithAudience("https://flyte.acme.example").WithScopes("all"))
}

func withLogin(d Deployment) Deployment {
	return d.WithHost("flyte.acme.example").WithIngress(NGINX("flyte-tls")).WithAuth(login())
}

// config reads a file of configuration out of a rendered ConfigMap.
func configIn(t *testing.T, object map[string]any, file string) kube.Values {
	t.Helper()
	data, _ := object["data"].(map[string]any)
	text, ok := data[file].(string)
	require.True(t, ok, "no %s in %v", file, object["metadata"])
	values := kube.Values{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return values
}

// named is the item of a list that has the name.
func named(t *testing.T, list any, name string) map[string]any {
	t.Helper()
	items, _ := list.([]any)
	for _, item := range items {
		if m, _ := asMap(item); m["name"] == name {
			return m
		}
	}
	require.Failf(t, "no such item", "%s in %v", name, list)
	return nil
}

// What flyteadmin reads is where it reads it, on the chart flyte-core.
func TestALoginInPlanesIsWhereFlyteadminReadsIt(t *testing.T) {
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := planes().WithAuth(login())
		control := renderPlane(t, c, d, 0)
		server := configIn(t, control.get("ConfigMap", "flyte-admin-base-config"), "server.yaml")
		assert.Equal(t, true, at(t, server, "server", "security", "useAuth"), "inside of server")
		assert.Equal(t, map[string]any{"baseUrl": "https://acme.okta.example", "clientId": "0oa1flyte", "scopes": []any{"profile", "openid"},
			"clientSecretFile": "/etc/flyte/config-auth/oidc_client_secret"}, at(t, server, "auth", "userAuth", "openId"))
		assert.Equal(t, []any{"https://flyte.acme.example", "http://flyteadmin:80", "http://flyteadmin.flyte.svc.cluster.local:80"}, at(t, server, "auth", "authorizedUris"))
		assert.NotContains(t, control.text(), "657465813211", "the stranger's application that the chart has")

		spec := at(t, control.get("Deployment", "flyteadmin"), "spec", "template", "spec")
		assert.Equal(t, map[string]any{"name": "planewright-auth", "secret": map[string]any{"secretName": "flyte-secret-auth", "items": []any{
			map[string]any{"key": "oidc_client_secret", "path": "oidc_client_secret"},
			map[string]any{"key": "015-planewright-auth.yaml", "path": "015-planewright-auth.yaml"},
		}}}, named(t, at(t, spec, "volumes"), "planewright-auth"))
		flyteadmin := named(t, at(t, spec, "containers"), "flyteadmin")
		assert.Contains(t, at(t, flyteadmin, "command"), "/etc/flyte/config*/*.yaml", "one pattern for both folders")
		assert.Equal(t, "/etc/flyte/config-auth", named(t, at(t, flyteadmin, "volumeMounts"), "planewright-auth")["mountPath"])
		named(t, at(t, spec, "volumes"), "cluster-credentials")

		for i, list := range [][]string{{"flyteadmin", "flytescheduler", "syncresources"}, {"flytepropeller"}, {"flytepropeller"}} {
			r := renderPlane(t, c, d, i)
			assert.Nil(t, r.find("Secret", "flyte-secret-auth"), "the chart does not write it: %s", d.views()[i].id)
			for _, name := range list {
				assert.Equal(t, "1", at(t, r.get("Deployment", name), "spec", "template", "metadata", "annotations", "planewright.dev/auth-revision"), name)
			}
			for _, secret := range []string{"people-5ecret", "machines-5ecret", "foobar"} {
				assert.NotContains(t, r.text(), secret)
			}
		}
		propeller := renderPlane(t, c, d, 1)
		assert.Equal(t, "flyte-secret-auth", at(t, named(t, at(t, propeller.get("Deployment", "flytepropeller"), "spec", "template", "spec", "volumes"), "auth"), "secret", "secretName"))
		machine := configIn(t, propeller.get("ConfigMap", "flyte-propeller-config"), "admin.yaml")
		assert.Equal(t, "flytepropeller", at(t, machine, "admin", "clientId"))
		assert.Equal(t, "/etc/secrets/client_secret", at(t, machine, "admin", "clientSecretLocation"))
	})
}

func TestTokensOfAnotherServerInPlanes(t *testing.T) {
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := planes().WithAuth(otherLogin())
		server := configIn(t, renderPlane(t, c, d, 0).get("ConfigMap", "flyte-admin-base-config"), "server.yaml")
		assert.Equal(t, map[string]any{
			"authServerType":     "External",
			"externalAuthServer": map[string]any{"baseUrl": "https://acme.okta.example/oauth2/flyte", "metadataUrl": ".well-known/oauth-authorization-server", "allowedAudience": []any{"https://flyte.acme.example"}},
			"thirdPartyConfig": map[string]any{"flyteClient": map[string]any{"clientId": "0oa3flytectl", "redirectUri": "http://localhost:53593/callback",
				"scopes": []any{"all"}, "audience": "https://flyte.acme.example"}},
		}, at(t, server, "auth", "appAuth"))
		machine := configIn(t, renderPlane(t, c, d, 2).get("ConfigMap", "flyte-propeller-config"), "admin.yaml")
		assert.Equal(t, "0oa2machines", at(t, machine, "admin", "clientId"))
		assert.Equal(t, "https://flyte.acme.example", at(t, machine, "admin", "audience"))
		assert.Equal(t, []any{"all"}, at(t, machine, "admin", "scopes"))
	})
}

func TestALoginOnOneClusterIsWhereFlyteReadsIt(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := withLogin(production())
		r := render(t, c, d)
		auth := r.config("004-auth.yaml")
		assert.Equal(t, true, at(t, auth, "server", "security", "useAuth"))
		assert.Equal(t, "https://acme.okta.example", at(t, auth, "auth", "userAuth", "openId", "baseUrl"))
		assert.Equal(t, "0oa1flyte", at(t, auth, "auth", "userAuth", "openId", "clientId"))
		uris, _ := at(t, auth, "auth", "authorizedUris").([]any)
		assert.Equal(t, "https://flyte.acme.example", uris[0], "the first is the audience of tokens")
		for _, secret := range []string{"people-5ecret", "machines-5ecret", "foobar", "IDP_CLIENT"} {
			assert.NotContains(t, r.text(), secret)
		}
		assert.Contains(t, r.text(), d.release+"-auth")
		assert.Equal(t, "1", at(t, r.object("Deployment", "flyte-binary"), "spec", "template", "metadata", "annotations", "planewright.dev/auth-revision"))

		external := render(t, c, d.WithAuth(otherLogin()))
		assert.Equal(t, "External", at(t, external.config("100-inline-config.yaml"), "auth", "appAuth", "authServerType"))
		assert.Equal(t, []any{"openid", "email"}, at(t, external.config("100-inline-config.yaml"), "auth", "userAuth", "openId", "scopes"))
	})
}

// text is all that is rendered.
func (r rendered) text() string { return renderedPlane(r).text() }
