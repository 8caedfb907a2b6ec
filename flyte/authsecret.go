package flyte

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"golang.org/x/crypto/bcrypt"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// publishedSecret is the machine secret that the chart flyte-core and
// flyteadmin's own configuration publish: GHSA-67x4-qr35-qvrm.
const publishedSecret = "foobar"

// maxMachineSecret is the length in bytes up to which bcrypt tells texts apart.
const maxMachineSecret = 72

// authSecret is the step of the Secret that logins of the release need.
func (b binding) authSecret() secretStep {
	s := secretStep{binding: b, id: "auth-secret", name: b.authSecretName(), content: b.authContent, keys: []string{machineSecretKey},
		podAnnotation: authRevisionAnnotation, revision: b.authRevision,
		// A release that was made by hand has the Secret among its own objects:
		// Helm would delete it as one that it no longer renders.
		annotations: map[string]any{"helm.sh/resource-policy": "keep"}}
	if b.asksPeople() {
		s.keys = append(s.keys, oidcSecretKey)
		if b.auth.self() && !b.hashInStorageSecret() {
			s.keys = append(s.keys, authConfigKey)
		}
	}
	return s
}

// asksPeople reports whether the release has flyteadmin.
func (b binding) asksPeople() bool {
	_, data := b.recipe.(dataRecipe)
	return !data
}

func (b binding) authContent(ctx context.Context, run *planewright.Run) (map[string][]byte, error) {
	machine, err := b.machineSecret(ctx, run)
	if err != nil {
		return nil, err
	}
	content := map[string][]byte{machineSecretKey: []byte(machine)}
	if !b.asksPeople() {
		return content, nil
	}
	person, err := run.Resolve(ctx, b.auth.clientSecret)
	if err != nil {
		return nil, fmt.Errorf("auth.clientSecret: %w", err)
	}
	content[oidcSecretKey] = []byte(strings.TrimSpace(string(person)))
	if len(content[oidcSecretKey]) == 0 {
		return nil, fmt.Errorf("auth.clientSecret, which comes from %s, is empty: %w", b.auth.clientSecret.Source(), planewright.ErrInvalid)
	}
	if b.auth.self() && !b.hashInStorageSecret() {
		if content[authConfigKey], err = b.authConfig(ctx, b.authSecretName(), machine); err != nil {
			return nil, err
		}
	}
	return content, nil
}

// machineSecret is the text that machines log in with. White space around it
// does not count: Flyte's clients take it away.
func (b binding) machineSecret(ctx context.Context, run *planewright.Run) (string, error) {
	resolved, err := run.Resolve(ctx, b.auth.machineSecret)
	if err != nil {
		return "", fmt.Errorf("auth.machineSecret: %w", err)
	}
	text := strings.TrimSpace(string(resolved))
	problem := ""
	switch {
	case text == "":
		problem = "is empty"
	case text == publishedSecret:
		problem = "is the one that Flyte's charts publish, so anybody could log in with it"
	case len(text) > maxMachineSecret:
		problem = fmt.Sprintf("is longer than %d bytes, and bcrypt hashes no more", maxMachineSecret)
	}
	if problem != "" {
		return "", fmt.Errorf("auth.machineSecret, which comes from %s, %s; use a random text of 32 characters: %w", b.auth.machineSecret.Source(), problem, planewright.ErrInvalid)
	}
	return text, nil
}

// authConfig is flyteadmin's configuration file with the hash of the machine
// secret. A hash of the same secret that is in the Secret stays: each new one is
// different, and would replace pods.
func (b binding) authConfig(ctx context.Context, secret, machine string) ([]byte, error) {
	live, err := b.cluster.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: secret})
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		data, _, _ := unstructured.NestedStringMap(live.Object, "data")
		if hash, ok := hashIn(data[authConfigKey]); ok && bcrypt.CompareHashAndPassword(hash, []byte(machine)) == nil {
			if same, err := staticClients(hash); err == nil {
				return same, nil
			}
		}
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(machine), bcrypt.DefaultCost)
	if err != nil {
		return nil, errors.New("the machine secret cannot be hashed")
	}
	return staticClients(hash)
}

// hashIn reads the hash out of the file as a Secret holds it.
func hashIn(encoded string) ([]byte, bool) {
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, false
	}
	var file struct {
		Auth struct {
			AppAuth struct {
				SelfAuthServer struct {
					StaticClients map[string]struct {
						Secret []byte `json:"client_secret"`
					} `json:"staticClients"`
				} `json:"selfAuthServer"`
			} `json:"appAuth"`
		} `json:"auth"`
	}
	if yaml.Unmarshal(text, &file) != nil {
		return nil, false
	}
	hash := file.Auth.AppAuth.SelfAuthServer.StaticClients[MachineClientID].Secret
	return hash, len(hash) > 0
}

// staticClients is the configuration file with the OAuth2 clients that
// flyteadmin knows: it takes the list as a whole. It reads the hash from base64, as it
// does everything that is bytes in its configuration.
func staticClients(hash []byte) ([]byte, error) {
	public := func(id string) map[string]any {
		return map[string]any{
			"id": id, "public": true,
			"grant_types":    []any{"refresh_token", "authorization_code"},
			"response_types": []any{"code", "token"},
			"redirect_uris":  []any{publicRedirectURI, "http://localhost:12345/callback"},
			"scopes":         []any{"all", "offline", "access_token"},
		}
	}
	clients := map[string]any{
		MachineClientID: map[string]any{
			"id":             MachineClientID,
			"client_secret":  base64.StdEncoding.EncodeToString(hash),
			"grant_types":    []any{"refresh_token", "client_credentials"},
			"response_types": []any{"token"},
			"redirect_uris":  []any{"http://localhost:3846/callback"},
			"scopes":         []any{"all", "offline", "access_token"},
		},
		publicClientID: public(publicClientID),
		"flyte-cli":    public("flyte-cli"),
	}
	return yaml.Marshal(map[string]any{"auth": map[string]any{"appAuth": map[string]any{"selfAuthServer": map[string]any{"staticClients": clients}}}})
}
