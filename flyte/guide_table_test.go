package flyte_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/sandboxfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guideSteps is how many steps Flyte's deployment guide has.
const guideSteps = 110

// guideNames is what the rows of the table may name.
type guideNames struct {
	doc string
	// codes are those of findings, funcs the names of functions and methods, the
	// latter also behind their type's; next what reports advise, as it is in the source.
	codes, funcs, next []string
	// steps are ids of steps without their stack's.
	steps []string
}

func readGuideNames(t *testing.T) guideNames {
	t.Helper()
	var n guideNames
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments)
		require.NoError(t, err)
		if e.Name() == "doc.go" {
			n.doc = file.Doc.Text()
		}
		ast.Inspect(file, n.take)
	}
	return n
}

func (n *guideNames) take(node ast.Node) bool {
	text := func(e ast.Expr) string {
		literal, ok := e.(*ast.BasicLit)
		if !ok {
			return ""
		}
		s, _ := strconv.Unquote(literal.Value)
		return s
	}
	switch v := node.(type) {
	case *ast.FuncDecl:
		n.funcs = append(n.funcs, v.Name.Name)
		if v.Recv != nil {
			if of, ok := v.Recv.List[0].Type.(*ast.Ident); ok {
				n.funcs = append(n.funcs, of.Name+"."+v.Name.Name)
			}
		}
	case *ast.ValueSpec:
		if strings.HasPrefix(v.Names[0].Name, "Code") && len(v.Values) > 0 {
			n.codes = append(n.codes, text(v.Values[0]))
		}
	case *ast.CallExpr:
		if called, ok := v.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Advise" {
			n.next = append(n.next, text(v.Args[0]))
		}
	}
	return true
}

var guideRow = regexp.MustCompile(`(?m)^\tF([0-9]{2,3}) +(.+?) {2,}(.+)$`)

// problem says what is wrong with one part of a row, empty if nothing is.
func (n guideNames) problem(part string) string {
	kind, what, _ := strings.Cut(part, " ")
	what, by, _ := strings.Cut(what, " by ")
	if kind == "next:" || kind == "not" {
		_, what, _ = strings.Cut(part, " ")
		by = ""
	}
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
		found = strings.Contains(what, ".") && slices.Contains(n.funcs, what)
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
func (n guideNames) check(doc string) error {
	var problems []error
	rows := guideRow.FindAllStringSubmatch(doc, -1)
	if len(rows) != guideSteps {
		problems = append(problems, fmt.Errorf("the guide has %d steps, and the table %d rows", guideSteps, len(rows)))
	}
	for i, row := range rows {
		if want := fmt.Sprintf("%02d", i+1); row[1] != want {
			problems = append(problems, fmt.Errorf("row F%s is where F%s belongs", row[1], want))
		}
		for part := range strings.SplitSeq(row[3], "; ") {
			if p := n.problem(part); p != "" {
				problems = append(problems, fmt.Errorf("F%s %s: %q: %s", row[1], row[2], part, p))
			}
		}
	}
	return errors.Join(problems...)
}

// The table in the package's documentation has every step of the guide, and
// names nothing that does not exist.
func TestEveryStepOfTheGuideIsInTheDocumentation(t *testing.T) {
	n := readGuideNames(t)
	w := newPlanesWorld(t, "one", "two")
	control := controlPlane().WithCatalog(flyte.InternalLoadBalancer())
	for prefix, stack := range map[string]planewright.Stack{
		"flyte/ml/":   production().On(newWorld(t).env),
		"flyte/ml":    two().WithControlPlane(control).WithLabelMap(labels().WithProject("team1", "development", "gpu")).WithPredecessor(onControl()).On(w.env),
		"flyte/lab/":  lab().On(sandboxfake.Env(sandboxfake.New(lab()), t.TempDir())),
		"flyte/acme/": flyte.Hosted("https://flyte.acme.example").WithName("acme").On(flyte.NewHostedEnv()),
	} {
		require.NotEmpty(t, stack.Steps())
		for _, s := range stack.Steps() {
			n.steps = append(n.steps, strings.TrimPrefix(strings.TrimPrefix(s.ID, prefix), "/"))
		}
	}
	require.NoError(t, n.check(n.doc), n.steps)

	for _, broken := range []struct{ from, to, want string }{
		{"\tF07  ", "\tsee  ", "the guide has 110 steps, and the table 109 rows"},
		{"F12  ", "F13  ", "row F13 is where F12 belongs"},
		{"finding tests-only", "finding test-only", `"finding test-only": there is no such finding`},
		{"step labels by WithProject", "step label by WithProject", "there is no such step"},
		{"by WithPredecessor", "by WithPredecessors", "there is no WithPredecessors"},
		{"output Sandbox.Access", "output Sandbox.Accesses", "there is no such output"},
		{"next: open the console", "next: shut the console", "there is no such next:"},
		{"not needed: it is in the image", "not at all: it is in the image", "there is no such not"},
	} {
		require.Contains(t, n.doc, broken.from)
		assert.ErrorContains(t, n.check(strings.Replace(n.doc, broken.from, broken.to, 1)), broken.want)
	}
}

// onControl is what the deployment in planes takes the place of.
func onControl() flyte.Deployment { return single() }
