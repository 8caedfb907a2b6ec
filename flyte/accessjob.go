package flyte

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AccessJob is a short Job that a verification runs as Flyte's own
// ServiceAccount: it writes, reads and deletes one object under a random name in
// the metadata bucket, and connects to the database. It shows what no look from
// outside can: that the identity, the bucket's policy, the network and the
// password fit. Make one with [NewAccessJob].
type AccessJob struct {
	set               bool
	storage, database string
	timeout           time.Duration
}

// The images of an access Job that names none: the clouds' command lines and
// PostgreSQL's client, at versions that are known to work.
const (
	DefaultS3Image       = "docker.io/amazon/aws-cli:2.17.0"
	DefaultGCSImage      = "docker.io/google/cloud-sdk:480.0.0-slim"
	DefaultPostgresImage = "docker.io/library/postgres:16.4-alpine"
)

// DefaultAccessTimeout is how long an access Job may take, its images' pulls included.
const DefaultAccessTimeout = 3 * time.Minute

// NewAccessJob has the default images.
func NewAccessJob() AccessJob { return AccessJob{set: true} }

// WithImages sets the images: one with the command line of the storage's
// cloud (aws, gcloud) and a shell, and one with psql and a shell. An empty one
// is the default.
func (a AccessJob) WithImages(storage, database string) AccessJob {
	a.storage, a.database = storage, database
	return a
}

// WithTimeout sets how long the Job may take. Zero means [DefaultAccessTimeout].
func (a AccessJob) WithTimeout(timeout time.Duration) AccessJob {
	a.timeout = timeout
	return a
}

// WithAccessJob has [Deployment.Verify] run a short Job beside each release.
// By default a verification makes nothing in a cluster.
func (d Deployment) WithAccessJob(job AccessJob) Deployment {
	d.access = job
	return d
}

// account is the ServiceAccount that the release reads and writes storage as.
func (b binding) account() string {
	switch b.recipe.(type) {
	case controlRecipe:
		return string(FlyteAdmin)
	case dataRecipe:
		return string(FlytePropeller)
	}
	return b.ServiceAccount()
}

// storageScript writes, reads and deletes one object.
const (
	s3Script = `echo planewright > /tmp/probe
aws $ENDPOINT s3 cp /tmp/probe "$OBJECT"
aws $ENDPOINT s3 cp "$OBJECT" - > /dev/null
aws $ENDPOINT s3 rm "$OBJECT"`
	gcsScript = `echo planewright > /tmp/probe
gcloud storage cp /tmp/probe "$OBJECT"
gcloud storage cat "$OBJECT" > /dev/null
gcloud storage rm "$OBJECT"`
	// The password is written as connection strings quote it.
	postgresScript = `psql "host=$HOST port=$PORT dbname=$DATABASE user=$ROLE $OPTIONS ${PASSWORD_FILE:+password=$(cat "$PASSWORD_FILE")} connect_timeout=10" -c "select 1" > /dev/null`
)

func environment(pairs ...string) []any {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, map[string]any{"name": pairs[i], "value": pairs[i+1]})
		}
	}
	return list
}

// container runs a script. What it last printed is told if it fails.
func (b binding) container(name, image, script string, env []any) map[string]any {
	return map[string]any{
		"name": name, "image": image, "command": []any{"sh", "-ec", script}, "env": env,
		"terminationMessagePolicy": "FallbackToLogsOnError",
		"securityContext":          map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}},
	}
}

func (b binding) storageContainer(name string) map[string]any {
	s := b.storage
	object := fmt.Sprintf("%s://%s/planewright-access/%s", s.scheme(), s.bucket, name)
	if s.provider == providerGCS {
		return b.container("storage", first(b.access.storage, DefaultGCSImage), gcsScript, environment("OBJECT", object))
	}
	endpoint := ""
	if s.compatible {
		endpoint = "--endpoint-url " + strings.TrimSuffix(s.endpoint, "/")
	}
	c := b.container("storage", first(b.access.storage, DefaultS3Image), s3Script,
		environment("OBJECT", object, "AWS_REGION", s.region, "ENDPOINT", endpoint, "HOME", "/tmp"))
	if s.keyed() {
		c["envFrom"] = []any{map[string]any{"secretRef": map[string]any{"name": name}}}
	}
	return c
}

func (b binding) databaseContainer() (container, volume map[string]any) {
	db := b.database
	file := ""
	secret, key := b.databaseSecretName(), b.keys.password
	if ref, ok := db.password.InCluster(); ok {
		secret, key = ref.SecretName, ref.Key
	}
	if !db.password.IsZero() {
		file = coreDatabaseMount + "/" + key
	}
	c := b.container("database", first(b.access.database, DefaultPostgresImage), postgresScript,
		environment("HOST", db.host, "PORT", fmt.Sprint(db.port), "DATABASE", db.name, "ROLE", db.user, "OPTIONS", db.optionsAt(coreDatabaseMount), "PASSWORD_FILE", file, "HOME", "/tmp"))
	if secret == "" {
		return c, nil
	}
	c["volumeMounts"] = []any{map[string]any{"name": "database", "mountPath": coreDatabaseMount, "readOnly": true}}
	return c, map[string]any{"name": "database", "secret": map[string]any{"secretName": secret}}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// accessJob is the Job of a name.
func (b binding) accessJob(name string) *unstructured.Unstructured {
	containers := []any{b.storageContainer(name)}
	pod := map[string]any{"serviceAccountName": b.account(), "restartPolicy": "Never"}
	if b.database.set {
		container, volume := b.databaseContainer()
		containers = append(containers, container)
		if volume != nil {
			pod["volumes"] = []any{volume}
		}
	}
	pod["containers"] = containers
	if len(b.pullSecrets) > 0 {
		var list []any
		for _, secret := range b.pullSecrets {
			list = append(list, map[string]any{"name": secret})
		}
		pod["imagePullSecrets"] = list
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": name, "namespace": b.namespace, "labels": b.ownLabels()},
		"spec": map[string]any{
			"backoffLimit": int64(0), "ttlSecondsAfterFinished": int64(600),
			"activeDeadlineSeconds": int64(b.accessTimeout().Seconds()),
			"template":              map[string]any{"spec": pod},
		},
	}}
}

func (b binding) accessTimeout() time.Duration {
	if b.access.timeout > 0 {
		return b.access.timeout
	}
	return DefaultAccessTimeout
}

// verifyAccess runs the Job and takes it away again.
func (b binding) verifyAccess(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	if !b.access.set {
		return nil, nil
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	job := b.accessJob("planewright-access-" + hex.EncodeToString(random[:]))
	ref := kube.RefOf(job)
	object := ref.In(b.cluster.Name)
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeAccess, Object: &object,
		Fix: fmt.Sprintf("see that ServiceAccount %s may use the bucket, and that the cluster reaches it and the database", b.account())}
	if b.storage.keyed() {
		if err := b.accessKeys(ctx, run, ref.Name); err != nil {
			return nil, err
		}
		defer b.dropAccess(ctx, run, kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: ref.Namespace, Name: ref.Name})
	}
	_, err := b.cluster.Objects.Create(ctx, job)
	if errors.Is(err, planewright.ErrDenied) {
		finding.Severity, finding.Cause, finding.Fix = planewright.SeverityUnprobed, "the Job may not be made: "+err.Error(), ""
		return []planewright.Finding{finding}, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.dropAccess(ctx, run, ref)
	patient, cancel := context.WithTimeoutCause(ctx, b.accessTimeout(), planewright.ErrTimeout)
	defer cancel()
	failed := ""
	err = b.cluster.Objects.Wait(patient, kube.WaitRequest{
		Refs: []kube.Ref{ref},
		Until: func(live *unstructured.Unstructured) (bool, string) {
			var done bool
			done, failed = jobState(live)
			return done, "the Job runs"
		},
		Progress: func(message string) { run.Progress("%s", message) },
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		finding.Cause = "the Job that uses storage and database did not end: " + err.Error()
	case failed != "":
		finding.Cause = "the Job that uses storage and database failed: " + failed + b.lastWords(ctx, ref)
	default:
		finding.Severity, finding.Fix = planewright.SeverityInfo, ""
		finding.Cause = fmt.Sprintf("pods of ServiceAccount %s write, read and delete in %s", b.account(), b.storage)
		if b.database.set {
			finding.Cause += ", and connect to the database"
		}
	}
	return []planewright.Finding{finding}, nil
}

// jobState tells whether a Job has ended, and how it failed if it did.
func jobState(live *unstructured.Unstructured) (done bool, failed string) {
	if live == nil {
		return true, "it is gone"
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, item := range conditions {
		c, _ := asMap(item)
		if c["status"] != "True" {
			continue
		}
		switch c["type"] {
		case "Complete":
			return true, ""
		case "Failed":
			message, _ := c["message"].(string)
			return true, message
		}
	}
	return false, ""
}

// lastWords are what the containers of a Job's pods last printed.
func (b binding) lastWords(ctx context.Context, job kube.Ref) string {
	pods, err := b.cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "Pod", Namespace: job.Namespace, Labels: "job-name=" + job.Name})
	if err != nil {
		return ""
	}
	var words strings.Builder
	for _, pod := range pods {
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		for _, item := range statuses {
			status, _ := asMap(item)
			message, _, _ := unstructured.NestedString(status, "state", "terminated", "message")
			if code, ok, _ := unstructured.NestedInt64(status, "state", "terminated", "exitCode"); ok && code != 0 {
				fmt.Fprintf(&words, "; %s: %s", status["name"], strings.TrimSpace(message))
			}
		}
	}
	return words.String()
}

// accessKeys puts the storage's keys into a Secret for the Job alone.
func (b binding) accessKeys(ctx context.Context, run *planewright.Run, name string) error {
	key, err := run.Resolve(ctx, b.storage.secretKey)
	if err != nil {
		return fmt.Errorf("storage secret key: %w", err)
	}
	encode := base64.StdEncoding.EncodeToString
	_, err = b.cluster.Objects.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": name, "namespace": b.namespace, "labels": b.ownLabels()},
		"data":     map[string]any{"AWS_ACCESS_KEY_ID": encode([]byte(b.storage.keyID)), "AWS_SECRET_ACCESS_KEY": encode(key)},
	}})
	return err
}

// dropAccess takes away what a verification made, also when it was cut off.
func (b binding) dropAccess(ctx context.Context, run *planewright.Run, ref kube.Ref) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialPatience)
	defer cancel()
	if err := b.cluster.Objects.Delete(ctx, ref, kube.DeleteOptions{}); err != nil {
		run.Logger().WarnContext(ctx, "what a verification made could not be deleted", "object", ref.String(), "error", err)
	}
}
