package flyte_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoSecretIsPrinted(t *testing.T) {
	storage := flyte.S3Compatible("flyte", "http://minio:9000").WithKeys("flyte", planewright.SecretValue("hunter2"))
	database := flyte.Postgres("db", "flyte").WithPassword(planewright.SecretValue("hunter2"))
	deployment := production().WithStorage(storage).WithDatabase(database)
	type tool struct {
		deployment flyte.Deployment
		storage    flyte.Storage
		database   flyte.Database
	}
	for _, value := range []any{storage, database, deployment, &deployment, []any{deployment}, tool{deployment, storage, database}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "hunter2", "%s of a %T", verb, value)
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "hunter2")
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "value", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("made", "value", value)
		assert.NotContains(t, log.String(), "hunter2")
	}
}

func TestSpecsDescribeThemselves(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"s3://acme-flyte in us-east-1, user data in acme-data":                              flyte.S3("acme-flyte", "us-east-1").WithUserDataBucket("acme-data"),
		"gs://acme-flyte in project acme-ml":                                                flyte.GCS("acme-flyte", "acme-ml"),
		"s3://flyte at http://minio:9000, secret key from environment variable KEY":         flyte.S3Compatible("flyte", "http://minio:9000").WithKeys("id", planewright.SecretFromEnv("KEY")),
		"s3://flyte at http://minio:9000, keys from Secret minio":                           flyte.S3Compatible("flyte", "http://minio:9000").WithKeysFromSecret("minio"),
		"postgres://flyteadmin@db:5432/flyte, TLS disable":                                  flyte.Postgres("db", "flyte").WithTLS(flyte.TLSDisable),
		"postgres://flyte@db:6432/flyte, TLS require, password from key pass of Secret rds": flyte.Postgres("db", "flyte").WithUser("flyte").WithPort(6432).WithPassword(planewright.SecretInCluster("rds", "pass")),
		"AWS role arn:aws:iam::123456789012:role/flyte":                                     flyte.AWSRole("arn:aws:iam::123456789012:role/flyte"),
		"Google service account flyte@acme-ml.iam.gserviceaccount.com":                      flyte.GCPServiceAccount("flyte@acme-ml.iam.gserviceaccount.com"),
		"annotations a/b, c/d": flyte.Annotations(map[string]string{"c/d": "1", "a/b": "2"}),
		"no identity":          flyte.Identity{},
		"no storage":           flyte.Storage{},
		"no database":          flyte.Database{},
		"v1.16.8":              flyte.V1_16_8,
	} {
		assert.Equal(t, want, got.String())
	}
}
