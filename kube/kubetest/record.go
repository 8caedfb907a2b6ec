package kubetest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// cutOff makes a record of the release app look as if a Helm operation on it had
// been killed some time ago: that is all there is to see of it.
func (s *scene) cutOff(t *testing.T, revision int, status string, ago time.Duration) {
	t.Helper()
	record := s.get(t, "v1", "Secret", fmt.Sprintf("sh.helm.release.v1.app.v%d", revision))
	encoded, _, err := unstructured.NestedString(record.Object, "data", "release")
	require.NoError(t, err)
	content := unpack(t, encoded)
	info, ok := content["info"].(map[string]any)
	require.True(t, ok)
	info["status"] = status
	info["last_deployed"] = time.Now().Add(-ago).Format(time.RFC3339Nano)
	require.NoError(t, unstructured.SetNestedField(record.Object, pack(t, content), "data", "release"))
	labels := record.GetLabels()
	labels["status"] = status
	labels["modifiedAt"] = fmt.Sprint(time.Now().Add(-ago).Unix())
	record.SetLabels(labels)
	_, err = s.cluster.Objects.Update(s.ctx, record)
	require.NoError(t, err)
}

// unpack reads what Helm keeps of a release: JSON, compressed, and encoded
// twice, once by Helm and once by Kubernetes.
func unpack(t *testing.T, encoded string) map[string]any {
	t.Helper()
	outer, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	inner, err := base64.StdEncoding.DecodeString(string(outer))
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(inner))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(text, &content))
	return content
}

func pack(t *testing.T, content map[string]any) string {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(b.Bytes())))
}
