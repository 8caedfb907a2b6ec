package cloud_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/cloud"
	"github.com/stretchr/testify/assert"
)

// pattern matches a whole text in which '*' stands for anything: what another
// library says.
func pattern(text string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$"
}

func TestDatabaseThatSaysNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := look(t, cloud.ProbePostgres("p", &postgres{silent: true}, cloud.PostgresNeed{Host: "db.acme.internal", Port: 6432}))
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Regexp(t, pattern("error [database] Database db.acme.internal:6432: what listens there does not answer as a PostgreSQL does: *; fix: check host and port"), got[0])
	})
}
