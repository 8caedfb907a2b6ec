package kubefake_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestAnswersAreThoseOfARealServer replays requests whose answers were recorded
// on a real API server.
func TestAnswersAreThoseOfARealServer(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.txt")
	require.NoError(t, err)
	_, parts, _ := strings.Cut(string(text), "\n=== ")
	for part := range strings.SplitSeq(parts, "\n=== ") {
		title, steps, _ := strings.Cut(part, "\n")
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { replay(t, title, steps) })
		})
	}
}

func replay(t *testing.T, title, steps string) {
	t.Helper()
	fleet := kubefake.NewFleet("dp-1")
	namespace := "answers-" + title
	_, err := client(t, fleet, "dp-1").CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	settle()
	for step := range strings.SplitSeq("\n"+steps, "\n--- ") {
		if strings.TrimSpace(step) == "" {
			continue
		}
		request, wanted, _ := strings.Cut(step, "\n>>> ")
		line, body, _ := strings.Cut(request, "\n")
		if pause, ok := strings.CutPrefix(line, "SLEEP "); ok {
			d, err := time.ParseDuration(pause)
			require.NoError(t, err)
			<-time.After(d)
			continue
		}
		answer, message, _ := strings.Cut(strings.TrimSpace(wanted), "\n")
		found, said := ask(t, fleet, namespace, line, body)
		assert.Equal(t, answer, found, "%s\n%s\n%s", line, body, said)
		if message != "" {
			assert.Equal(t, message, said, "%s\n%s", line, body)
		}
	}
}

var (
	anyUID  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	repeats = regexp.MustCompile(`REPEAT\((.),(\d+)\)`)
)

// ask makes one request and returns status, reason and fields, and the message.
func ask(t *testing.T, fleet *kubefake.Fleet, namespace, line, body string) (answer, message string) {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(line, "NS", namespace))
	method, contentType := words[0], "application/json"
	switch method {
	case "APPLY":
		method, contentType = http.MethodPatch, "application/apply-patch+yaml"
	case "MERGE":
		method, contentType = http.MethodPatch, "application/merge-patch+json"
	case "STRATEGIC":
		method, contentType = http.MethodPatch, "application/strategic-merge-patch+json"
	case "JSONPATCH":
		method, contentType = http.MethodPatch, "application/json-patch+json"
	}
	body = repeats.ReplaceAllStringFunc(strings.ReplaceAll(body, "NS", namespace), func(macro string) string {
		parts := repeats.FindStringSubmatch(macro)
		n, err := strconv.Atoi(parts[2])
		require.NoError(t, err)
		return strings.Repeat(parts[1], n)
	})
	if body != "" && contentType != "application/apply-patch+yaml" {
		converted, err := yaml.YAMLToJSON([]byte(body))
		require.NoError(t, err)
		body = string(converted)
	}
	config := fleet.Config("dp-1")
	request, err := http.NewRequestWithContext(t.Context(), method, config.Host+words[1], strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "oracle/1.0") // as it was recorded
	for _, w := range words[2:] {
		if accept, ok := strings.CutPrefix(w, "accept="); ok {
			request.Header.Set("Accept", accept)
		}
	}
	res, err := config.Transport.RoundTrip(request)
	require.NoError(t, err)
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var status metav1.Status
	if res.StatusCode < 400 || json.Unmarshal(content, &status) != nil {
		return strconv.Itoa(res.StatusCode), ""
	}
	var fields []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Field != "" {
				fields = append(fields, cause.Field)
			}
		}
	}
	slices.Sort(fields)
	message = strings.ReplaceAll(anyUID.ReplaceAllString(status.Message, "UID"), namespace, "NS")
	return strings.TrimSpace(fmt.Sprint(res.StatusCode, " ", status.Reason, " ", strings.Join(fields, " "))), message
}
