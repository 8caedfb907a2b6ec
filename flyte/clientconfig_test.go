package flyte_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A deployment tells how clients reach it, and a file keeps that.
func ExampleClientConfig() {
	config := flyte.NewClientConfig("flyte.acme.example").
		WithLogin(flyte.AuthPkce).
		WithConsole("https://flyte.acme.example").
		WithLogger(flyte.LogInfo, true)
	text, err := config.YAML()
	fmt.Printf("%s%v\n", text, err)
	fmt.Println(flyte.NewClientConfigFile("/home/me/.flyte/config.yaml", config).Export())
	// Output:
	// admin:
	//   authType: Pkce
	//   endpoint: dns:///flyte.acme.example:443
	//   insecure: false
	// console:
	//   endpoint: https://flyte.acme.example
	// logger:
	//   level: 4
	//   show-source: true
	// <nil>
	// export FLYTECTL_CONFIG=/home/me/.flyte/config.yaml
}

func TestEveryModeTellsHowClientsReachIt(t *testing.T) {
	for want, config := range map[string]flyte.ClientConfig{
		"dns:///localhost:8089 (insecure)":                     production().ClientConfig(),
		"dns:///flyte.acme.example:443 (TLS)":                  planes().ClientConfig(),
		"dns:///flyte.acme.example:443 (TLS, login by Pkce)":   planes().ClientConfig().WithLogin(flyte.AuthPkce),
		"dns:///localhost:30080 (insecure)":                    flyte.NewSandbox("lab", flyte.V1_16_8).ClientConfig(),
		"dns:///sandbox.union.ai:443 (TLS, login by Pkce)":     flyte.Hosted("https://sandbox.union.ai").ClientConfig(),
		"dns:///10.0.0.9:443 (TLS)":                            flyte.NewClientConfig("10.0.0.9"),
		"dns:///[fd00::1]:443 (TLS)":                           flyte.NewClientConfig("dns:///[fd00::1]"),
		"dns:///flyte:81 (insecure)":                           flyte.NewClientConfig("flyte:81").WithInsecure(),
		"dns:///f.example:443 (TLS, login by ClientSecret)":    flyte.NewClientConfig("f.example").WithClientSecret("ci", "/run/secrets/flyte"),
		"dns:///f.example:443 (TLS, login by ExternalCommand)": flyte.NewClientConfig("f.example").WithTokenCommand("token", "--flyte"),
		"dns:///f.example:8443 (TLS, login by DeviceFlow)":     flyte.NewClientConfig("f.example:8443").WithLogin(flyte.AuthDeviceFlow),
		"dns:///flyte.local:443 (TLS, login by ClientSecret)":  flyte.NewClientConfig("flyte.local").WithClientSecretFromEnv("ci", "FLYTE_SECRET"),
		"dns:///registry-1.internal:443 (TLS)":                 flyte.NewClientConfig("dns:///registry-1.internal:443"),
	} {
		require.NoError(t, config.Validate())
		assert.Equal(t, want, config.String())
	}
}

func TestAClientConfigSaysEverythingThatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		config flyte.ClientConfig
		want   []string
	}{
		{flyte.NewClientConfig(""), []string{
			`clientConfig.endpoint: clients need flyteadmin's address; fix: write it as dns:///flyte.acme.example:443`}},
		{flyte.NewClientConfig("https://flyte.acme.example/console"), []string{
			`clientConfig.endpoint "https://flyte.acme.example/console": clients speak gRPC, whose address is a host and a port and no URL; fix: write it as dns:///flyte.acme.example`}},
		{flyte.NewClientConfig("localhost:8088").WithInsecure(), []string{
			`clientConfig.endpoint "localhost:8088": 8088 is the port of the console and the HTTP gateway; clients speak gRPC; fix: use port 8089`}},
		{flyte.NewClientConfig("localhost").WithInsecure(), []string{
			`clientConfig.endpoint "localhost": without TLS there is no port that goes without saying; fix: name flyteadmin's gRPC port: 8089 of a port-forward to a single cluster, 30080 of a sandbox`}},
		{flyte.NewClientConfig("flyte.acme.example:443").WithInsecure().WithCACertificate("ca.crt"), []string{
			`clientConfig.endpoint "flyte.acme.example:443": port 443 is encrypted; fix: leave out WithInsecure`,
			`clientConfig.caCertificate "ca.crt": an insecure connection checks no certificate; fix: leave out WithInsecure, or the authorities`,
			`clientConfig.caCertificate "ca.crt": clients run in any folder, so a file is named by its absolute path; fix: write the whole path; a ~ is not understood`}},
		{flyte.NewClientConfig("flyte.acme.example:99999").WithLogin("pkce").WithConsole("flyte.acme.example").WithLogger(9, false), []string{
			`clientConfig.endpoint "flyte.acme.example:99999": a port is a number from 1 to 65535; fix: write it as dns:///flyte.acme.example:443`,
			`clientConfig.authType "pkce": clients log in by Pkce, DeviceFlow, ClientSecret or ExternalCommand; fix: use one of the Auth constants`,
			`clientConfig.console "flyte.acme.example": a console's address is a URL of scheme and host; fix: write it as https://flyte.acme.example`,
			`clientConfig.logger.level "9": flytectl knows the levels 0 (panic) to 5 (debug); fix: use one of the Log constants`}},
		{flyte.NewClientConfig("f.example").WithClientSecretFromEnv(" ci", "hunter2!"), []string{
			`clientConfig.clientID " ci": an OAuth2 client has an id without spaces around it; fix: use WithClientSecret with the client's id`,
			`clientConfig.clientSecret: an environment variable's name is letters, digits and underscores; fix: give the variable's name, never the secret itself`}},
		{flyte.NewClientConfig("f.example").WithLogin(flyte.AuthClientSecret), []string{
			`clientConfig.clientID: an OAuth2 client has an id without spaces around it; fix: use WithClientSecret with the client's id`,
			`clientConfig.clientSecret: an OAuth2 client's secret is in a file or an environment variable; fix: use WithClientSecret or WithClientSecretFromEnv`}},
		{flyte.NewClientConfig("f.example").WithTokenCommand(), []string{
			`clientConfig.command: a command that prints a token has a name; fix: use WithTokenCommand`}},
		{flyte.NewClientConfig("me:hunter2@f.example"), []string{
			`clientConfig.endpoint: the host must be a DNS name or an IP address; fix: write it as dns:///flyte.acme.example:443`}},
	} {
		err := tt.config.Validate()
		var invalid *planewright.ValidationError
		require.ErrorAs(t, err, &invalid, tt.config)
		var got []string
		for _, p := range invalid.Problems {
			got = append(got, p.String())
		}
		assert.Equal(t, tt.want, got)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// configStack keeps a configuration file, and nothing else.
func configStack(file flyte.ClientConfigFile) planewright.Stack {
	return planewright.NewStack("flyte/lab").WithSteps(file.Step("flyte/lab/client-config"))
}

func TestTheConfigurationIsKeptInAFileOfItsOwnersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".flyte", "config.yaml")
	stack := configStack(flyte.NewClientConfigFile(path, production().ClientConfig()))

	report, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"flyte/lab/client-config"}, report.Changed())
	assert.Contains(t, report.String(), "export FLYTECTL_CONFIG="+path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	folder, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	assert.Equal(t, "admin:\n  endpoint: dns:///localhost:8089\n  insecure: true\nconsole:\n  endpoint: http://localhost:8088\n", read(t, path))

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)

	require.NoError(t, os.Chmod(path, 0o644))
	_, err = planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "what became readable for others is closed again")
	assert.Equal(t, []string{"config.yaml"}, fileNames(t, filepath.Dir(path)), "nothing is left behind, and no backup of the same")

	_, err = planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.NoFileExists(t, path)
}

func TestAFileThatIsThereIsKeptAsABackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("admin:\n  endpoint: dns:///old:443\nsecret-of-mine: hunter2\n"), 0o600))
	stack := configStack(flyte.NewClientConfigFile(path, production().ClientConfig()))

	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	assert.Contains(t, plan.String(), "the file that is there is kept as bak.config.yaml")
	assert.Contains(t, plan.String(), "dns:///old:443")
	assert.NotContains(t, plan.String(), "hunter2", "what others keep there is not shown")
	_, err = planewright.Apply(t.Context(), plan)
	require.NoError(t, err)
	assert.Equal(t, "admin:\n  endpoint: dns:///old:443\nsecret-of-mine: hunter2\n", read(t, filepath.Join(filepath.Dir(path), "bak.config.yaml")))

	// Another file comes: its backup does not take the place of the first one.
	require.NoError(t, os.WriteFile(path, []byte("admin: {endpoint: 'dns:///other:443'}\n"), 0o600))
	_, err = planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"bak.2.config.yaml", "bak.config.yaml", "config.yaml"}, fileNames(t, filepath.Dir(path)))
	assert.Contains(t, read(t, filepath.Join(filepath.Dir(path), "bak.config.yaml")), "dns:///old:443")

	report, err := planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.Empty(t, report.Kept)
	assert.Equal(t, []string{"bak.2.config.yaml", "bak.config.yaml"}, fileNames(t, filepath.Dir(path)))
}

func TestAConfigurationIsMergedOnRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	const old = `# my own notes
admin:
  endpoint: dns:///old:443 # the old one
  maxRetries: 9
logger: null
storage:
  type: s3
`
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	file := flyte.NewClientConfigFile(path, planes().ClientConfig().WithLogger(flyte.LogWarn, false)).WithMerge()
	stack := configStack(file)

	_, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, `# my own notes
admin:
  endpoint: dns:///flyte.acme.example:443 # the old one
  maxRetries: 9
  insecure: false
logger:
  level: 3
  show-source: false
storage:
  type: s3
console:
  endpoint: https://flyte.acme.example
`, read(t, path))
	assert.Equal(t, old, read(t, filepath.Join(filepath.Dir(path), "bak.config.yaml")))
	changed, err := file.Write(t.Context())
	require.NoError(t, err)
	assert.False(t, changed, "a second time there is nothing to do")

	report, err := planewright.Uninstall(t.Context(), stack)
	require.NoError(t, err)
	assert.FileExists(t, path)
	assert.Equal(t, "it holds more than was written to it; delete it yourself", report.Kept[0].Reason)
}

func TestWhatIsNoMappingIsNotMergedInto(t *testing.T) {
	for name, text := range map[string]string{
		"a list": "- hunter2\n", "broken": "admin: [hunter2\n", "a text below": "admin: hunter2\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := planewright.Install(t.Context(), configStack(flyte.NewClientConfigFile(path, production().ClientConfig()).WithMerge()))
			require.ErrorIs(t, err, planewright.ErrBlocked)
			assert.Contains(t, err.Error(), "is no YAML mapping")
			assert.NotContains(t, err.Error(), "hunter2")
			assert.Equal(t, text, read(t, path))
		})
	}
}

func TestALinkToAConfigurationStaysALink(t *testing.T) {
	folder := t.TempDir()
	kept := filepath.Join(folder, "dotfiles", "flyte.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o700))
	require.NoError(t, os.WriteFile(kept, []byte("admin: {}\n"), 0o600))
	path := filepath.Join(folder, "config.yaml")
	require.NoError(t, os.Symlink(kept, path))

	_, err := flyte.NewClientConfigFile(path, production().ClientConfig()).Write(t.Context())
	require.NoError(t, err)
	target, err := os.Readlink(path)
	require.NoError(t, err)
	assert.Equal(t, kept, target)
	assert.Contains(t, read(t, kept), "dns:///localhost:8089")
	assert.Equal(t, []string{"bak.flyte.yaml", "flyte.yaml"}, fileNames(t, filepath.Dir(kept)))
}

// A run that is cut off between the backup and the file leaves the old file;
// the next one goes on, and makes no second backup.
func TestABackupOfARunThatWasCutOffIsUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("old: true\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "bak.config.yaml"), []byte("old: true\n"), 0o600))
	_, err := flyte.NewClientConfigFile(path, production().ClientConfig()).Write(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"bak.config.yaml", "config.yaml"}, fileNames(t, filepath.Dir(path)))
}

func TestAFileThatMayNotBeWrittenIsDenied(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o500))
	_, err := flyte.NewClientConfigFile(filepath.Join(folder, "config.yaml"), production().ClientConfig()).Write(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
}

func TestNothingIsWrittenWithoutNeed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	_, err := flyte.NewClientConfigFile(path, production().ClientConfig()).Write(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.NoFileExists(t, path)
	_, err = flyte.NewClientConfigFile("config.yaml", production().ClientConfig()).Write(t.Context())
	require.ErrorIs(t, err, planewright.ErrInvalid, "a relative path depends on where a program runs")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func fileNames(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	return list
}
