package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// flags are the flags that every example has.
type flags struct {
	dryRun     bool
	uninstall  bool
	output     string
	charts     string
	kubeconfig string
	contexts   list
	render     string
	fail       list
	scratch    bool
}

// errUsage stands for problems that have been printed already.
var errUsage = errors.New("wrong flags")

// list is a flag that holds several values, separated by commas or given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(value string) error {
	for v := range strings.SplitSeq(value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			*l = append(*l, v)
		}
	}
	return nil
}

func parseFlags(e Example, args []string, stderr io.Writer) (flags, error) {
	var f flags
	set := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintf(stderr, "%s %s: plan, install, verify, and a second install.\n\n", e.Name, e.About)
		set.PrintDefaults()
	}
	set.BoolVar(&f.dryRun, "dry-run", false, "only plan, and write nothing")
	set.BoolVar(&f.uninstall, "uninstall", false, "take away what installs have made")
	set.StringVar(&f.output, "o", "tree", "how plans and reports are shown: `tree|json`")
	set.StringVar(&f.charts, "charts", "", "where charts come from: an `archive, a folder or an https URL` of a chart repository\n(default: small charts of our own on clusters in memory, the public chart repository on real ones)")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "run on the real clusters of this kubeconfig `file`")
	set.Var(&f.contexts, "contexts", "the contexts for the clusters "+strings.Join(e.Clusters, ", ")+", in this order, as `a,b`\n(default: contexts of the clusters' names)")
	set.StringVar(&f.render, "render", "", "only write the desired state as files to this `folder`")
	if e.Before != nil || e.ByHand != nil {
		set.BoolVar(&f.scratch, "from-scratch", false, "on real clusters, too, first install what the example takes to be there")
	}
	set.Var(&f.fail, "fail", "on clusters in memory, fail this `call` to see what happens: verb, kind and name,\nhow and how often, as in 'apply Secret flyte/* throttled 2'")
	if e.Flags != nil {
		e.Flags(set)
	}
	if err := set.Parse(args); err != nil {
		return f, err
	}
	problems := f.problems(set.Args(), len(e.Clusters))
	for _, problem := range problems {
		fmt.Fprintf(stderr, "%s: %s\n", e.Name, problem)
	}
	if len(problems) > 0 {
		return f, errUsage
	}
	return f, nil
}

// problems lists what is wrong with the flags taken together.
func (f flags) problems(rest []string, clusters int) []string {
	var p []string
	if len(rest) > 0 {
		p = append(p, fmt.Sprintf("unexpected arguments %q: everything is said by flags", rest))
	}
	if f.output != "tree" && f.output != "json" {
		p = append(p, fmt.Sprintf("-o %q: it is tree or json", f.output))
	}
	if len(f.contexts) > 0 && f.kubeconfig == "" {
		p = append(p, "-contexts needs -kubeconfig")
	}
	if len(f.contexts) > 0 && len(f.contexts) != clusters {
		p = append(p, fmt.Sprintf("-contexts has %d contexts, and the example has %d clusters", len(f.contexts), clusters))
	}
	if len(f.fail) > 0 && f.kubeconfig != "" {
		p = append(p, "-fail works on clusters in memory only")
	}
	if f.dryRun && f.uninstall {
		p = append(p, "-dry-run and -uninstall do not go together")
	}
	return p
}
