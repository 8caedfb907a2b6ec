package flyte_test

import (
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAVerificationMayUseStorageAndDatabaseInEachPlane(t *testing.T) {
	w := newPlanesWorld(t, "one")
	d := planes().WithDataplanes(flyte.NewDataplane("dp-1", "one")).
		WithStorage(flyte.S3("acme-flyte", "us-east-1").WithKeys("AKIAEXAMPLE", planewright.SecretValue("s3cr3t")))
	w.install(t, d)
	before := w.fleet.Writes("one")
	_, err := d.Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.Equal(t, before, w.fleet.Writes("one"), "without being asked, a verification makes nothing")

	var causes []string
	for _, f := range w.verify(t, d.WithAccessJob(flyte.NewAccessJob()), flyte.CodeAccess) {
		assert.Equal(t, planewright.SeverityInfo, f.Severity, f.Cause)
		causes = append(causes, f.Object.Cluster+": "+f.Cause)
	}
	assert.ElementsMatch(t, []string{
		"control: pods of ServiceAccount flyteadmin write, read and delete in s3://acme-flyte in us-east-1, secret key from a value in memory, and connect to the database",
		"one: pods of ServiceAccount flytepropeller write, read and delete in s3://acme-flyte in us-east-1, secret key from a value in memory",
	}, causes)
	for _, cluster := range []string{"control", "one"} {
		for _, kind := range []kube.ListRequest{{APIVersion: "batch/v1", Kind: "Job", Namespace: "flyte"}, {APIVersion: "v1", Kind: "Secret", Namespace: "flyte"}} {
			list, err := w.fleet.Cluster(cluster).Objects.List(t.Context(), kind)
			require.NoError(t, err)
			for _, obj := range list {
				assert.False(t, strings.HasPrefix(obj.GetName(), "planewright-access-"), "%s %s is left", obj.GetKind(), obj.GetName())
			}
		}
	}
}

func TestTheJobOfAVerificationIsFlytesOwnAndHoldsNoSecret(t *testing.T) {
	w := newWorld(t)
	d := production()
	w.install(t, d)
	var made *unstructured.Unstructured
	w.fleet.OnCall(func(c kubefake.CallRecord) {
		if c.Kind == "Job" && c.Verb == "create" {
			for _, obj := range w.fleet.Objects("main") {
				if obj.GetKind() == "Job" {
					made = obj
				}
			}
		}
	})
	verified, err := d.WithAccessJob(flyte.NewAccessJob().WithImages("mirror.example/aws:1", "mirror.example/psql:1")).Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.Contains(t, codes(verified.Findings), flyte.CodeAccess)
	require.NotNil(t, made)
	text := jsonOf(t, made.Object)
	for _, want := range []string{
		`"serviceAccountName":"flyte-backend-flyte-binary"`, `"image":"mirror.example/aws:1"`, `"image":"mirror.example/psql:1"`,
		`s3://acme-flyte/planewright-access/planewright-access-`, `"value":"/etc/db/password"`, `"value":"sslmode=require"`,
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "hunter2")
}

func TestAJobThatDoesNotEndIsTold(t *testing.T) {
	w := newWorld(t, kubefake.WithPullFailure("*aws-cli*"))
	w.install(t, production())
	verified, err := production().WithAccessJob(flyte.NewAccessJob().WithTimeout(300*time.Millisecond)).Verify(t.Context(), w.env)
	require.NoError(t, err)
	var found []planewright.Finding
	for _, f := range verified.Findings {
		if f.Code == flyte.CodeAccess {
			found = append(found, f)
		}
	}
	require.Len(t, found, 1)
	assert.Equal(t, planewright.SeverityError, found[0].Severity)
	assert.Contains(t, found[0].Cause, "did not end")
}
