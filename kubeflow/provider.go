package kubeflow

import (
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// providerName is the name under which Kubeflow's policies ask the mesh for the login.
const providerName = "oauth2-proxy-kubeflow"

// refreshInterval is how often the mesh reads the login's keys.
const refreshInterval = "1m"

// loginProvider is how the mesh asks Kubeflow's login whether somebody may
// pass. The redirect is a format of Envoy's.
func loginProvider() map[string]any {
	return map[string]any{
		"name": providerName,
		"envoyExtAuthzHttp": map[string]any{
			"service":                         "oauth2-proxy.kubeflow-oauth2-proxy.svc.cluster.local",
			"port":                            int64(80),
			"headersToDownstreamOnDeny":       []any{"content-type", "set-cookie"},
			"headersToUpstreamOnAllow":        []any{"authorization", "path", "x-auth-request-user", "x-auth-request-email", "x-auth-request-access-token"},
			"includeAdditionalHeadersInCheck": map[string]any{"X-Auth-Request-Redirect": "http://%REQ(Host)%%REQ(:PATH)%"},
			"includeRequestHeadersInCheck":    []any{"authorization", "cookie", "accept"},
		},
	}
}

// providerAt finds a provider by its name, -1 if it is not there.
func providerAt(list []any) int {
	for i, item := range list {
		if m, ok := item.(map[string]any); ok && m["name"] == providerName {
			return i
		}
	}
	return -1
}

// providerNames are the names of providers; what has none is an empty name.
func providerNames(list []any) []string {
	names := []string{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		names = append(names, name)
	}
	return names
}

// sameProvider reports whether a provider is the login's.
func sameProvider(item any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	got, err := plain(m)
	return err == nil && reflect.DeepEqual(got, loginProvider())
}

// shortText shows a value in one line.
func shortText(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, ", ")
}
