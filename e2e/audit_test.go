package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// auditPolicy has the API servers log every call, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

func auditLog(cluster string) string { return filepath.Join(world.dir, cluster+"-audit.log") }

// auditEvent is the part of an audit log's line that the tests read.
type auditEvent struct {
	Verb           string
	RequestURI     string
	UserAgent      string
	ObjectRef      struct{ Resource, Namespace, Name, Subresource string }
	ResponseStatus struct{ Code int }
}

// persists reports whether the call was one that stores something: not a dry
// run, not a review of access or of a token, which is created only to be
// answered, and not a port-forward, which is a connection.
func (e auditEvent) persists() bool {
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !strings.Contains(e.RequestURI, "dryRun=All") && e.ObjectRef.Resource != "selfsubjectaccessreviews" && e.ObjectRef.Resource != "tokenreviews" && e.ObjectRef.Subresource != "portforward"
	}
	return false
}

func (e auditEvent) String() string {
	return fmt.Sprintf("%s %s %s/%s %d", e.Verb, e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name, e.ResponseStatus.Code)
}

// calls returns what planewright has asked a cluster since the given line of
// its audit log, and the line to go on from.
func calls(t *testing.T, cluster string, since int) (events []auditEvent, next int) {
	t.Helper()
	f, err := os.Open(auditLog(cluster))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for ; lines.Scan(); next++ {
		if next < since {
			continue
		}
		var e auditEvent
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		if strings.HasPrefix(e.UserAgent, "planewright") {
			events = append(events, e)
		}
	}
	require.NoError(t, lines.Err())
	return events, next
}
