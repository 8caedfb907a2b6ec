package flyte

const (
	// coreAuthSecret is what the templates of flyte-core call the Secret that
	// machines log in with: the scheduler's knows no other name.
	coreAuthSecret = "flyte-secret-auth"
	// coreAuthMount is where flyteadmin's part of it is. Its name is like that of
	// the folder /etc/flyte/config, so that one pattern finds the files of both.
	coreAuthMount  = "/etc/flyte/config-auth"
	coreAuthVolume = "planewright-auth"
	coreConfigPath = "/etc/flyte/config*/*.yaml"

	// The keys of the Secret.
	machineSecretKey = "client_secret"
	oidcSecretKey    = "oidc_client_secret"
	// authConfigKey is a configuration file. In flyte-binary it is read after
	// the chart's own.
	authConfigKey = "015-planewright-auth.yaml"

	// authRevisionAnnotation is on what reads the secrets when it starts.
	authRevisionAnnotation = "planewright.dev/auth-revision"
)

// authSecretName is the Secret that holds what logins need.
func (d Deployment) authSecretName() string {
	switch {
	case d.auth.IsZero():
		return ""
	case d.inPlanes():
		return coreAuthSecret
	}
	return d.release + "-auth"
}

// hashInStorageSecret reports whether the machine secret's hash is in the Secret
// of the storage's keys: flyte-binary takes one Secret with configuration.
func (d Deployment) hashInStorageSecret() bool {
	return d.auth.self() && !d.inPlanes() && d.storage.keyed()
}

// flyteClient is what flyteadmin tells flytectl and pyflyte.
func (a Auth) flyteClient() map[string]any {
	client := map[string]any{"clientId": publicClientID, "redirectUri": publicRedirectURI, "scopes": []any{"offline", "all"}}
	if s := a.external; s.set {
		client["clientId"] = s.publicID
		client["scopes"] = []any{"all"}
		if len(s.scopes) > 0 {
			client["scopes"] = anyList(s.scopes)
		}
		if s.audience != "" {
			client["audience"] = s.audience
		}
	}
	return client
}

// appAuth is how flyteadmin's configuration names another authorization server.
func (s AuthServer) appAuth() map[string]any {
	server := map[string]any{"baseUrl": s.url, "metadataUrl": s.metadataPath()}
	if s.audience != "" {
		server["allowedAudience"] = []any{s.audience}
	}
	return map[string]any{"authServerType": "External", "externalAuthServer": server}
}

// setAuth sets the login of a release of flyte-binary.
func (d Deployment) setAuth(v *layer) {
	a := d.auth
	if a.IsZero() {
		return // It is off in the chart and in its overlays.
	}
	v.set("configuration.auth.enabled", true)
	// What an overlay has here are placeholders.
	for _, path := range []string{"oidc.clientSecret", "internal.clientSecret", "internal.clientSecretHash"} {
		v.set("configuration.auth."+path, "")
	}
	v.set("configuration.auth.enableAuthServer", a.self())
	v.set("configuration.auth.oidc.baseUrl", a.issuer)
	v.set("configuration.auth.oidc.clientId", a.clientID)
	v.set("configuration.auth.internal.clientId", a.machineID())
	v.set("configuration.auth.flyteClient", a.flyteClient())
	v.set("configuration.auth.authorizedUris", []any{"https://" + d.ingress.at(d.host)})
	v.set("configuration.auth.clientSecretsExternalSecretRef", d.authSecretName())
	inline := map[string]any{"userAuth": map[string]any{"openId": map[string]any{"scopes": a.userScopes()}}}
	if s := a.external; s.set {
		if s.audience != "" {
			v.set("configuration.auth.internal.audience", s.audience)
		}
		inline["appAuth"] = s.appAuth()
	}
	v.set("configuration.inline.auth", inline)
	if a.self() && !d.hashInStorageSecret() {
		v.set("configuration.inlineSecretRef", d.authSecretName())
	}
}

// setMachineLogin sets how flytepropeller, the scheduler and syncresources log in.
func (c core) setMachineLogin(v *layer) {
	a := c.auth
	// The chart's own secret is published; nothing is to hold it.
	v.set("secrets.adminOauthClientCredentials.clientSecret", nil)
	v.set("secrets.adminOauthClientCredentials.enabled", !a.IsZero())
	if a.IsZero() {
		return
	}
	v.set("secrets.adminOauthClientCredentials.secretName", coreAuthSecret)
	v.set("configmap.admin.admin.clientId", a.machineID())
	v.set("configmap.admin.admin.clientSecretLocation", "/etc/secrets/"+machineSecretKey)
	if s := a.external; s.set {
		if s.audience != "" {
			v.set("configmap.admin.admin.audience", s.audience)
		}
		if len(s.scopes) > 0 {
			v.set("configmap.admin.admin.scopes", anyList(s.scopes))
		}
	}
}

// setAuth sets flyteadmin's login.
func (c controlRecipe) setAuth(v *layer) {
	a := c.auth
	if a.IsZero() {
		return // It is off in the chart and in its overlays.
	}
	// Inside of "server": beside it nothing reads it, and there would be no login.
	v.set("configmap.adminServer.server.security.useAuth", true)
	v.set("configmap.adminServer.auth.userAuth.openId", map[string]any{
		"baseUrl": a.issuer, "clientId": a.clientID, "scopes": a.userScopes(),
		"clientSecretFile": coreAuthMount + "/" + oidcSecretKey,
	})
	v.set("configmap.adminServer.auth.appAuth.thirdPartyConfig.flyteClient", a.flyteClient())
	if a.external.set {
		for key, value := range a.external.appAuth() {
			v.set("configmap.adminServer.auth.appAuth."+key, value)
		}
		return
	}
	// The hash of the machine secret is in a file of a Secret's.
	v.set("flyteadmin.configPath", coreConfigPath)
}

// coreVolume is what flyteadmin mounts of the Secret.
func (a Auth) coreVolume() map[string]any {
	items := []any{map[string]any{"key": oidcSecretKey, "path": oidcSecretKey}}
	if a.self() {
		items = append(items, map[string]any{"key": authConfigKey, "path": authConfigKey})
	}
	return map[string]any{"name": coreAuthVolume, "secret": map[string]any{"secretName": coreAuthSecret, "items": items}}
}

func coreAuthVolumeMount() map[string]any {
	return map[string]any{"name": coreAuthVolume, "mountPath": coreAuthMount, "readOnly": true}
}
