package flyte_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// problems returns what is wrong with a deployment.
func problems(t *testing.T, d flyte.Deployment) []planewright.Problem {
	t.Helper()
	err := d.Validate()
	if err == nil {
		return nil
	}
	require.ErrorIs(t, err, planewright.ErrInvalid)
	invalid, ok := errors.AsType[*planewright.ValidationError](err)
	require.True(t, ok)
	return invalid.Problems
}

func TestAGoodDeploymentIsValid(t *testing.T) {
	assert.Empty(t, problems(t, production()))
}

// TestBadInput has, for each thing that can be wrong, the one problem that is
// told of it: its path, and the value as it was given.
func TestBadInput(t *testing.T) {
	base := production()
	s3, db := flyte.S3("acme-flyte", "us-east-1"), flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("x"))
	named := func(name string) flyte.Deployment {
		return flyte.NewSingleCluster(name, flyte.V1_16_8, "main").WithStorage(s3).WithDatabase(db)
	}
	of := func(version flyte.Version) flyte.Deployment {
		return flyte.NewSingleCluster("ml", version, "main").WithStorage(s3).WithDatabase(db)
	}
	chart := func(version, digest string) flyte.Version {
		return flyte.NewVersion("own", flyte.Chart{Name: "flyte-binary", Version: version, Digest: digest})
	}
	minio := flyte.S3Compatible("flyte", "http://minio:9000").WithKeys("id", planewright.SecretValue("x"))
	const arn = "arn:aws:iam::123456789012:role/flyte"
	quota := "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: q\n"
	for name, c := range map[string]struct {
		deployment  flyte.Deployment
		path, value string
	}{
		"no name":                   {named(""), "name", ""},
		"a name with capitals":      {named("ML"), "name", "ML"},
		"a name with an underscore": {named("ml_prod"), "name", "ml_prod"},
		"a long name":               {named(strings.Repeat("a", 41)), "name", strings.Repeat("a", 41)},
		"no cluster":                {flyte.NewSingleCluster("ml", flyte.V1_16_8, "").WithStorage(s3).WithDatabase(db), "cluster", ""},
		"no version":                {of(flyte.Version{}), "version", ""},
		"an unpinned chart":         {of(chart("", "")), "version", "own"},
		"a chart of Flyte 3":        {of(chart("v3.0.0", "")), "version", "v3.0.0"},
		"a malformed digest":        {of(chart("v1.16.9", "sha256:abc")), "version.digest", "sha256:abc"},

		"an empty namespace":           {base.WithNamespace(""), "namespace", ""},
		"a namespace with a dot":       {base.WithNamespace("a.b"), "namespace", "a.b"},
		"an empty release":             {base.WithRelease(""), "release", ""},
		"a release of a digit":         {base.WithRelease("1flyte"), "release", "1flyte"},
		"a release with a dot":         {base.WithRelease("a.b"), "release", "a.b"},
		"a release with long Services": {base.WithRelease(strings.Repeat("r", 43)), "release", strings.Repeat("r", 43)},

		"no storage":                    {flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithDatabase(db), "storage", ""},
		"an empty bucket":               {base.WithStorage(flyte.S3("", "us-east-1")), "storage.bucket", ""},
		"a bucket with a scheme":        {base.WithStorage(flyte.S3("s3://acme", "us-east-1")), "storage.bucket", "s3://acme"},
		"a bucket with capitals":        {base.WithStorage(flyte.S3("Acme", "us-east-1")), "storage.bucket", "Acme"},
		"a bucket as an address":        {base.WithStorage(flyte.S3("10.0.0.1", "us-east-1")), "storage.bucket", "10.0.0.1"},
		"a bucket with two dots":        {base.WithStorage(flyte.S3("a..b", "us-east-1")), "storage.bucket", "a..b"},
		"a bucket that is a number":     {base.WithStorage(flyte.S3("123456789012", "us-east-1")), "storage.bucket", "123456789012"},
		"a placeholder as a bucket":     {base.WithStorage(flyte.S3("<BUCKET_NAME>", "us-east-1")), "storage.bucket", "<BUCKET_NAME>"},
		"a bad second bucket":           {base.WithStorage(s3.WithUserDataBucket("a/b")), "storage.userDataBucket", "a/b"},
		"a region by its name":          {base.WithStorage(flyte.S3("acme-flyte", "N. Virginia")), "storage.region", "N. Virginia"},
		"a GCS bucket of Google's":      {base.WithStorage(flyte.GCS("google-bucket", "acme-ml")), "storage.bucket", "google-bucket"},
		"a GCS bucket with a long part": {base.WithStorage(flyte.GCS(strings.Repeat("a", 64)+".b", "acme-ml")), "storage.bucket", strings.Repeat("a", 64) + ".b"},
		"a project by its number":       {base.WithStorage(flyte.GCS("acme-flyte", "123456789")), "storage.project", "123456789"},
		"keys for GCS":                  {base.WithStorage(flyte.GCS("acme-flyte", "acme-ml").WithKeys("id", planewright.SecretValue("x"))), "storage.keys", ""},
		"an endpoint without scheme":    {base.WithStorage(flyte.S3Compatible("flyte", "minio:9000").WithKeys("id", planewright.SecretValue("x"))), "storage.endpoint", "minio:9000"},
		"an endpoint with a user":       {base.WithStorage(flyte.S3Compatible("flyte", "https://u:p@minio").WithKeys("id", planewright.SecretValue("x"))), "storage.endpoint", "https://u:xxxxx@minio"},
		"an endpoint with a path":       {base.WithStorage(flyte.S3Compatible("flyte", "https://minio/bucket").WithKeys("id", planewright.SecretValue("x"))), "storage.endpoint", "https://minio/bucket"},
		"no keys for minio":             {base.WithStorage(flyte.S3Compatible("flyte", "http://minio:9000")), "storage.keys", ""},
		"half of the keys":              {base.WithStorage(s3.WithKeys("", planewright.SecretValue("x"))), "storage.accessKeyID", ""},
		"the other half":                {base.WithStorage(s3.WithKeys("id", planewright.Secret{})), "storage.secretKey", ""},
		"a key in the cluster":          {base.WithStorage(s3.WithKeys("id", planewright.SecretInCluster("s", "k"))), "storage.secretKey", "key k of Secret s"},
		"keys from two places":          {base.WithStorage(minio.WithKeysFromSecret("minio")), "storage.keys", "minio"},
		"a Secret of a bad name":        {base.WithStorage(s3.WithKeysFromSecret("Minio!")), "storage.keysSecret", "Minio!"},

		"no database":               {flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithStorage(s3), "database", ""},
		"an empty host":             {base.WithDatabase(flyte.Postgres("", "flyte").WithPassword(planewright.SecretValue("x"))), "database.host", ""},
		"a host with a scheme":      {base.WithDatabase(flyte.Postgres("postgres://db", "flyte").WithPassword(planewright.SecretValue("x"))), "database.host", "postgres://db"},
		"a host with a port":        {base.WithDatabase(flyte.Postgres("db:5432", "flyte").WithPassword(planewright.SecretValue("x"))), "database.host", "db:5432"},
		"a placeholder as a host":   {base.WithDatabase(flyte.Postgres("<RDS_HOST_DNS>", "flyte").WithPassword(planewright.SecretValue("x"))), "database.host", "<RDS_HOST_DNS>"},
		"half an address":           {base.WithDatabase(flyte.Postgres("10.0.0", "flyte").WithPassword(planewright.SecretValue("x"))), "database.host", "10.0.0"},
		"an empty database":         {base.WithDatabase(flyte.Postgres("db", "").WithPassword(planewright.SecretValue("x"))), "database.name", ""},
		"a user for the shell":      {base.WithDatabase(db.WithUser("$(id)")), "database.user", "$(id)"},
		"a user that YAML misreads": {base.WithDatabase(db.WithUser("yes")), "database.user", "yes"},
		"port 0":                    {base.WithDatabase(db.WithPort(0)), "database.port", "0"},
		"port 65536":                {base.WithDatabase(db.WithPort(65536)), "database.port", "65536"},
		"an unknown TLS mode":       {base.WithDatabase(db.WithTLS("prefer")), "database.tls", "prefer"},
		"an authority for nothing":  {base.WithDatabase(db.WithRootCA("x")), "database.rootCA", ""},
		"an authority that is none": {base.WithDatabase(db.WithTLS(flyte.TLSVerifyFull).WithRootCA("x")), "database.rootCA", ""},
		"TLS without a password":    {base.WithDatabase(flyte.Postgres("db", "flyte")), "database.password", ""},
		"a password in no Secret":   {base.WithDatabase(flyte.Postgres("db", "flyte").WithPassword(planewright.SecretInCluster("", "password"))), "database.password", ""},
		"a password at no key":      {base.WithDatabase(flyte.Postgres("db", "flyte").WithPassword(planewright.SecretInCluster("db", "a/b"))), "database.password", "a/b"},

		"a role that is none":           {base.WithIdentity(flyte.AWSRole("flyte")), "identity", "flyte"},
		"a role of a short account":     {base.WithIdentity(flyte.AWSRole("arn:aws:iam::123:role/flyte")), "identity", "arn:aws:iam::123:role/flyte"},
		"a role with a placeholder":     {base.WithIdentity(flyte.AWSRole("arn:aws:iam::<ACCOUNT_NUMBER>:role/flyte")), "identity", "arn:aws:iam::<ACCOUNT_NUMBER>:role/flyte"},
		"a user instead of a role":      {base.WithUserIdentity(flyte.AWSRole("arn:aws:iam::123456789012:user/ana")), "userIdentity", "arn:aws:iam::123456789012:user/ana"},
		"a role of another partition":   {base.WithStorage(flyte.S3("acme-flyte", "us-gov-west-1")).WithUserIdentity(flyte.Identity{}), "identity", "arn:aws:iam::123456789012:role/flyte-backend"},
		"a partition that is none":      {base.WithIdentity(flyte.AWSRole("arn:aws-gov:iam::123456789012:role/flyte")), "identity", "arn:aws-gov:iam::123456789012:role/flyte"},
		"an account by its name":        {base.WithIdentity(flyte.GCPServiceAccount("flyte")), "identity", "flyte"},
		"an annotation's key":           {base.WithIdentity(flyte.Annotations(map[string]string{"a b": "x"})), "identity", "a b"},
		"an identity of no domain":      {base.WithDomainIdentity("qa", flyte.AWSRole(arn)), "userIdentities.qa", "qa"},
		"identities of different kinds": {base.WithUserIdentity(flyte.Identity{}).WithDomainIdentity("production", flyte.AWSRole(arn)).WithDomainIdentity("staging", flyte.AWSRole(arn)), "userIdentities.development", "no identity"},

		"a domain with capitals": {base.WithDomains("Production"), "domains[0]", "Production"},
		"a domain twice":         {base.WithDomains("qa", "qa"), "domains[1]", "qa"},
		"a project with a dot":   {base.WithProjects(flyte.NewProject("a.b")), "projects[0].name", "a.b"},
		"a project twice":        {base.WithProjects(flyte.NewProject("a"), flyte.NewProject("a")), "projects[1].name", "a"},
		"a long project":         {base.WithDomains("development").WithProjects(flyte.NewProject(strings.Repeat("p", 60))), "projects[0].name", strings.Repeat("p", 60)},
		"a long description":     {base.WithProjects(flyte.NewProject("a").WithDescription(strings.Repeat("d", 301))), "projects[0].description", "301 bytes"},

		"a template of another suffix":       {base.WithResourceTemplate("010_quota.yml", quota), "templates[0].name", "010_quota.yml"},
		"a template with a slash":            {base.WithResourceTemplate("a/b.yaml", quota), "templates[0].name", "a/b.yaml"},
		"a template twice":                   {base.WithResourceTemplate("010.yaml", quota).WithResourceTemplate("010.yaml", quota), "templates[1].name", "010.yaml"},
		"a template before the namespace":    {base.WithResourceTemplate("000.yaml", quota), "templates[0].name", "000.yaml"},
		"a template in the way":              {base.WithResourceTemplate("002_serviceaccount.yaml", quota), "templates[0].name", "002_serviceaccount.yaml"},
		"a variable without spaces":          {base.WithResourceTemplate("010.yaml", quota+"  namespace: '{{namespace}}'\n"), "templates[0].text", "{{namespace}}"},
		"a variable without a value":         {base.WithResourceTemplate("010.yaml", quota+"  namespace: '{{ ns }}'\n"), "templates[0].text", "{{ ns }}"},
		"a template that is no YAML":         {base.WithResourceTemplate("010.yaml", "a: [\n"), "templates[0].text", ""},
		"a template of two objects":          {base.WithResourceTemplate("010.yaml", quota+"---\n"+quota), "templates[0].text", ""},
		"a template without a kind":          {base.WithResourceTemplate("010.yaml", "apiVersion: v1\nmetadata:\n  name: q\n"), "templates[0].text", ""},
		"an empty template":                  {base.WithResourceTemplate("010.yaml", ""), "templates[0].text", ""},
		"a template that Flyte may not make": {base.WithResourceTemplate("010.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: r\n"), "templates[0].text", "Role"},

		"a reserved variable":         {base.WithTemplateVariable("namespace", "x"), "variables[0].name", "namespace"},
		"a variable's bad name":       {base.WithTemplateVariable("a b", "x"), "variables[0].name", "a b"},
		"an empty variable":           {base.WithTemplateVariable("a", ""), "variables[0].value", ""},
		"a variable in a variable":    {base.WithTemplateVariable("a", "{{ b }}"), "variables[0].value", "{{ b }}"},
		"a placeholder in a variable": {base.WithTemplateVariable("a", "<TEAM>"), "variables[0].value", "<TEAM>"},
		"a variable of no domain":     {base.WithTemplateVariable("a", "x", "qa"), "variables[0].domains[0]", "qa"},
		"a rule without verbs":        {base.WithRules(flyte.Rule{APIGroups: []string{""}, Resources: []string{"pods"}}), "rules[0].verbs", ""},
		"a rule of an empty resource": {base.WithRules(flyte.Rule{APIGroups: []string{""}, Resources: []string{""}, Verbs: []string{"get"}}), "rules[0].resources", ""},

		"two replicas":             {base.WithReplicas(2), "replicas", "2"},
		"less than no replicas":    {base.WithReplicas(-1), "replicas", "-1"},
		"an amount that is none":   {base.WithResources(flyte.Resources{CPU: "two"}, flyte.Resources{}), "resources.requests.cpu", "two"},
		"a negative amount":        {base.WithResources(flyte.Resources{}, flyte.Resources{Memory: "-1Gi"}), "resources.limits.memory", "-1Gi"},
		"a request over its limit": {base.WithResources(flyte.Resources{Memory: "2Gi"}, flyte.Resources{Memory: "1Gi"}), "resources.requests.memory", "2Gi"},
		"a label that is none":     {base.WithPlacement(flyte.NewPlacement().WithNodeLabel("a b", "c")), "placement.nodeLabels", "a b=c"},
		"a toleration's operator":  {base.WithPlacement(flyte.NewPlacement().WithTolerations(flyte.Toleration{Key: "a", Operator: "In"})), "placement.tolerations[0].operator", "In"},
		"a toleration of nothing":  {base.WithPlacement(flyte.NewPlacement().WithTolerations(flyte.Toleration{})), "placement.tolerations[0].key", ""},
		"a toleration's effect":    {base.WithPlacement(flyte.NewPlacement().WithTolerations(flyte.Toleration{Key: "a", Effect: "Never"})), "placement.tolerations[0].effect", "Never"},
		"a toleration's value":     {base.WithPlacement(flyte.NewPlacement().WithTolerations(flyte.Toleration{Key: "a", Operator: "Exists", Value: "b"})), "placement.tolerations[0].value", "b"},
		"a priority class":         {base.WithPlacement(flyte.NewPlacement().WithPriorityClass("High")), "placement.priorityClass", "High"},
		"an affinity":              {base.WithPlacement(flyte.NewPlacement().WithAffinity(kube.Values{"nodes": 1})), "placement.affinity.nodes", ""},
		"a registry with a scheme": {base.WithImageRegistry("https://registry"), "imageRegistry", "https://registry"},
		"a pull secret":            {base.WithPullSecrets("Registry"), "pullSecrets[0]", "Registry"},
		"a log region":             {base.WithLogLinks(flyte.CloudWatchLogs("here", "main")), "logLinks.region", "here"},
		"a log cluster's ARN":      {base.WithLogLinks(flyte.CloudWatchLogs("us-east-1", "arn:aws:eks:us-east-1:1:cluster/x")), "logLinks.cluster", "arn:aws:eks:us-east-1:1:cluster/x"},
		"a log project":            {base.WithLogLinks(flyte.StackdriverLogs("x")), "logLinks.project", "x"},

		"values that are no YAML":        {base.WithValuesYAML("a: ["), "values[0]", ""},
		"values that are no map":         {base.WithValuesYAML("- a"), "values[0]", ""},
		"values that are no values":      {base.WithValues(kube.Values{"a": make(chan int)}), "values[0]", ""},
		"Flyte 2's database":             {base.WithValuesYAML("configuration: {database: {postgres: {host: x}}}"), "values.configuration.database.postgres", ""},
		"volumes that drop the password": {base.WithValuesYAML("deployment: {extraVolumes: [{name: mine}]}"), "values.deployment.extraVolumes", ""},
		"mounts that drop the password":  {base.WithValuesYAML("deployment: {extraVolumeMounts: null}"), "values.deployment.extraVolumeMounts", ""},
		"another place of the password":  {base.WithValuesYAML("configuration: {database: {passwordPath: /etc/db/pass.txt}}"), "values.configuration.database.passwordPath", "/etc/db/pass.txt"},
		"another place of the keys":      {base.WithStorage(minio).WithIdentity(flyte.Identity{}).WithUserIdentity(flyte.Identity{}).WithValuesYAML("configuration: {inlineSecretRef: mine}"), "values.configuration.inlineSecretRef", "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			found := problems(t, c.deployment)
			require.Len(t, found, 1, "%v", found)
			assert.Equal(t, c.path, found[0].Path)
			assert.Equal(t, c.value, found[0].Value)
			assert.NotEmpty(t, found[0].Rule)
			assert.NotEmpty(t, found[0].Fix)
		})
	}
}

func TestAllProblemsAreToldAtOnce(t *testing.T) {
	err := flyte.NewSingleCluster("ML", flyte.V1_16_8, "").
		WithNamespace("").
		WithStorage(flyte.S3("", "mars")).
		WithDatabase(flyte.Postgres("", "")).
		WithReplicas(3).
		Validate()
	var invalid *planewright.ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "flyte deployment ML", invalid.Spec)
	var paths []string
	for _, p := range invalid.Problems {
		paths = append(paths, p.Path)
	}
	assert.Equal(t, []string{"name", "cluster", "replicas", "namespace", "storage.bucket", "storage.region",
		"database.host", "database.name", "database.password"}, paths)
}

func TestTheZeroDeploymentIsInvalidAndDoesNotPanic(t *testing.T) {
	var d flyte.Deployment
	assert.NotEmpty(t, problems(t, d))
	assert.NotEmpty(t, d.String())
	_, err := d.Plan(t.Context(), flyte.Env{})
	assert.ErrorIs(t, err, planewright.ErrInvalid)
}

func TestWhatTheEnvLacksIsToldToo(t *testing.T) {
	w := newWorld(t)
	_, err := flyte.NewSingleCluster("ml", flyte.V1_16_8, "other").Plan(t.Context(), flyte.NewEnv(w.cluster))
	var invalid *planewright.ValidationError
	require.ErrorAs(t, err, &invalid)
	var lines []string
	for _, p := range invalid.Problems {
		lines = append(lines, p.String())
	}
	assert.Equal(t, []string{
		"storage: a deployment needs a bucket; fix: use WithStorage with S3, S3Compatible or GCS",
		"database: a deployment needs a PostgreSQL database; fix: use WithDatabase(flyte.Postgres(host, database))",
		`env.clusters "other": the deployment's cluster must be in the Env; fix: use one of main, or give NewEnv a cluster of that name`,
		"env.charts: charts must come from somewhere; fix: use WithCharts with a repository, a folder or an archive",
	}, lines)
	assert.Empty(t, w.fleet.Calls(), "nothing is asked for")

	_, err = production().Plan(t.Context(), flyte.NewEnv(kube.Cluster{Name: "main"}).WithCharts(standIns()))
	assert.ErrorContains(t, err, "a cluster handle has all its ports")
}
