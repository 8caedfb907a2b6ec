package kubeflow_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright/kubeflow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guideSteps is how many steps the platform's guide has.
const guideSteps = 55

// source is what the package's source says: its documentation, the codes of its
// findings, the names of its functions and methods.
type source struct {
	doc   string
	codes []string
	funcs []string
}

func readSource(t *testing.T) source {
	t.Helper()
	var s source
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments)
		require.NoError(t, err)
		if e.Name() == "doc.go" {
			s.doc = file.Doc.Text()
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s.funcs = append(s.funcs, f.Name.Name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(v.Names[0].Name, "Code") || len(v.Values) == 0 {
				return true
			}
			if literal, ok := v.Values[0].(*ast.BasicLit); ok {
				code, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				s.codes = append(s.codes, code)
			}
			return true
		})
	}
	return s
}

var guideRow = regexp.MustCompile(`(?m)^\tK([0-9]{2})  (.+?) {2,}(.+)$`)

// named is what the rows of the table may name.
type named struct {
	source
	// steps are the ids of a whole stack's steps, without its name, next what reports advise.
	steps, next []string
}

// problem says what is wrong with one part of a row, empty if nothing is.
func (n named) problem(part string) string {
	kind, what, _ := strings.Cut(part, " ")
	what, by, _ := strings.Cut(what, " by ")
	for name := range strings.SplitSeq(by, ", ") {
		if name != "" && !slices.Contains(n.funcs, name) {
			return "there is no " + name
		}
	}
	found := false
	switch kind {
	case "step":
		found = slices.ContainsFunc(n.steps, func(id string) bool {
			ok, err := path.Match(what, id)
			return err == nil && ok
		})
	case "finding":
		found = slices.Contains(n.codes, what)
	case "output":
		method, ok := reflect.TypeFor[kubeflow.KubeflowStack]().MethodByName(what)
		found = ok && strings.HasPrefix(method.Type.Out(0).Name(), "Output[")
	case "next:":
		found = slices.ContainsFunc(n.next, func(line string) bool { return strings.Contains(line, what) })
	case "not":
		reason, ok := strings.CutPrefix(what, "needed: ")
		found = ok && reason != ""
	}
	if !found {
		return "there is no such " + kind
	}
	return ""
}

// check returns what is wrong with a table.
func (n named) check(doc string) error {
	var problems []error
	rows := guideRow.FindAllStringSubmatch(doc, -1)
	if len(rows) != guideSteps {
		problems = append(problems, fmt.Errorf("the guide has %d steps, and the table %d rows", guideSteps, len(rows)))
	}
	for i, row := range rows {
		if want := fmt.Sprintf("%02d", i+1); row[1] != want {
			problems = append(problems, fmt.Errorf("row K%s is where K%s belongs", row[1], want))
		}
		for part := range strings.SplitSeq(row[3], "; ") {
			if p := n.problem(part); p != "" {
				problems = append(problems, fmt.Errorf("K%s %s: %q: %s", row[1], row[2], part, p))
			}
		}
	}
	return errors.Join(problems...)
}

// The table in the package's documentation has every step of the guide, and
// names nothing that does not exist.
func TestEveryStepOfTheGuideIsInTheDocumentation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := named{source: readSource(t)}
		w := newWorld(t, workloadWith(manifest("v1", "Namespace", "", "legacy", nil)))
		n.next = append(n.next, install(t, w, bare()).Next...)
		stack := whole().
			WithMesh(kubeflow.ServiceMeshV2().WithLegacyWebhooksDeleted()).
			WithNamespaceBindings(kubeflow.NewNamespaceBinding("legacy", owner))
		report := install(t, w, stack)
		n.next = append(n.next, report.Next...)
		for _, s := range report.Steps {
			n.steps = append(n.steps, strings.TrimPrefix(s.ID, "kubeflow/ml/"))
		}
		require.NoError(t, n.check(n.doc))

		for _, broken := range []struct{ from, to, want string }{
			{"\tK07  ", "\tsee  ", "the guide has 55 steps, and the table 54 rows"},
			{"K12  ", "K13  ", "row K13 is where K12 belongs"},
			{"finding kserve", "finding kserver", `K11 KServe is installed: "finding kserver": there is no such finding`},
			{"step mesh by WithIstio", "step mess by WithIstio", `"step mess by WithIstio": there is no such step`},
			{"by WithIstio", "by WithIstios", "there is no WithIstios"},
			{"output GatewayAddress", "output Gateway", `"output Gateway": there is no such output`},
			{"next: under Tools", "next: below Tools", "there is no such next:"},
			{"not needed: NewModelRegistry", "not at all: NewModelRegistry", "there is no such not"},
		} {
			require.Contains(t, n.doc, broken.from)
			assert.ErrorContains(t, n.check(strings.Replace(n.doc, broken.from, broken.to, 1)), broken.want)
		}
	})
}
