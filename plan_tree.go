package planewright

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// mark is the sign that stands before a step of each action.
func (a Action) mark() string {
	switch a {
	case ActionCreate:
		return "+"
	case ActionUpdate:
		return "~"
	case ActionDelete:
		return "-"
	case ActionAdopt:
		return "&"
	case ActionBlocked:
		return "!"
	case ActionUnknown:
		return "?"
	default:
		return "="
	}
}

// String prints the plan as a tree: the steps by their ids, what would be
// done for each, and the fields that differ. Secrets are never shown.
func (p *ExecutionPlan) String() string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = p.WriteTree(&b)
	return b.String()
}

// WriteTree writes what String returns.
func (p *ExecutionPlan) WriteTree(w io.Writer) error {
	t := &tree{}
	root := &treeNode{}
	for i := range p.steps {
		root.add(strings.Split(p.steps[i].ID, "/"), &p.steps[i])
	}
	for _, child := range root.children {
		t.node(child.collapse(), "", "")
	}
	t.align()
	var b strings.Builder
	for _, l := range t.lines {
		b.WriteString(strings.TrimRight(l.text(), " "))
		b.WriteByte('\n')
	}
	for _, f := range p.findings {
		fmt.Fprintf(&b, "%s\n", f)
	}
	for _, i := range p.inventory {
		if i.write {
			fmt.Fprintf(&b, "the inventory of %s will be written\n", i.stack.name)
		}
	}
	b.WriteString(p.Summary())
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary counts the plan's steps by action, on one line: "plan: 2 to create, 1 unchanged".
func (p *ExecutionPlan) Summary() string {
	count := map[Action]int{}
	for _, s := range p.steps {
		count[s.Change.Action]++
	}
	var parts []string
	for _, a := range []struct {
		action Action
		words  string
	}{
		{ActionCreate, "to create"}, {ActionUpdate, "to update"}, {ActionDelete, "to delete"}, {ActionAdopt, "to adopt"},
		{ActionUnknown, "unknown until others have run"}, {ActionBlocked, "blocked"}, {ActionNone, "unchanged"},
	} {
		if count[a.action] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[a.action], a.words))
		}
	}
	if !p.HasChanges() {
		return "plan: no changes"
	}
	return "plan: " + strings.Join(parts, ", ")
}

// treeNode is one segment of the steps' ids.
type treeNode struct {
	name     string
	step     *PlannedStep
	children []*treeNode
}

func (n *treeNode) add(segments []string, step *PlannedStep) {
	if len(segments) == 0 {
		n.step = step
		return
	}
	i := slices.IndexFunc(n.children, func(c *treeNode) bool { return c.name == segments[0] })
	if i < 0 {
		i = len(n.children)
		n.children = append(n.children, &treeNode{name: segments[0]})
	}
	n.children[i].add(segments[1:], step)
}

// collapse joins segments that lead to one child only: "flyte/ml".
func (n *treeNode) collapse() *treeNode {
	c := *n
	for c.step == nil && len(c.children) == 1 {
		child := *c.children[0]
		child.name = c.name + "/" + child.name
		c = child
	}
	return &c
}

// tree collects lines in columns, to align them once all are known.
type tree struct {
	lines []treeLine
}

type treeLine struct {
	// label is the branch and the name; columns stand behind it, aligned.
	label   string
	columns []string
	widths  []int
}

func (l treeLine) text() string {
	var b strings.Builder
	b.WriteString(l.label)
	used := utf8.RuneCountInString(l.label)
	for i, c := range l.columns {
		b.WriteString(strings.Repeat(" ", max(l.widths[i]-used, 0)+2))
		b.WriteString(c)
		used = utf8.RuneCountInString(c)
	}
	return b.String()
}

func (t *tree) node(n *treeNode, branch, indent string) {
	if n.step == nil {
		t.lines = append(t.lines, treeLine{label: branch + n.name})
	} else {
		t.step(n, branch, indent)
	}
	for i, child := range n.children {
		if i == len(n.children)-1 {
			t.node(child.collapse(), indent+"└─ ", indent+"   ")
		} else {
			t.node(child.collapse(), indent+"├─ ", indent+"│  ")
		}
	}
}

func (t *tree) step(n *treeNode, branch, indent string) {
	c := n.step.Change
	columns := []string{string(c.Action), n.step.Title, n.step.Cluster}
	t.lines = append(t.lines, treeLine{label: branch + c.Action.mark() + " " + n.name, columns: columns})
	if len(n.children) > 0 {
		indent += "│ "
	} else {
		indent += "  "
	}
	if c.Reason != "" {
		t.lines = append(t.lines, treeLine{label: indent + "  " + c.Reason})
	}
	if c.Pending != "" {
		t.lines = append(t.lines, treeLine{label: indent + "  to be waited for: " + c.Pending})
	}
	for _, d := range c.Diff {
		t.lines = append(t.lines, treeLine{label: indent + "  " + d.String()})
	}
}

// align measures the columns over all lines that have some.
func (t *tree) align() {
	var widths []int
	measure := func(i, w int) {
		for len(widths) <= i {
			widths = append(widths, 0)
		}
		widths[i] = max(widths[i], w)
	}
	for _, l := range t.lines {
		if len(l.columns) == 0 {
			continue
		}
		measure(0, utf8.RuneCountInString(l.label))
		for i, c := range l.columns {
			measure(i+1, utf8.RuneCountInString(c))
		}
	}
	for i := range t.lines {
		t.lines[i].widths = widths
	}
}

// longestDiffValue is how much of a field's value a plan's line shows.
const longestDiffValue = 60

// String prints the field on one line: "spec.replicas: 1 → 2".
func (d FieldDiff) String() string {
	switch {
	case d.Secret:
		return d.Path + ": (secret) changes"
	case d.Before == "":
		return d.Path + ": + " + short(d.After)
	case d.After == "":
		return d.Path + ": - " + short(d.Before)
	}
	return d.Path + ": " + short(d.Before) + " → " + short(d.After)
}

func short(s string) string {
	s = strings.ReplaceAll(s, "\n", "⏎")
	if utf8.RuneCountInString(s) <= longestDiffValue {
		return s
	}
	runes := []rune(s)
	return string(runes[:longestDiffValue]) + "…"
}
