// Command platformtool is a small internal tool as a platform team would write
// it around this library: the team's own file says which clusters and which
// teams there are, the tool turns it into a deployment, and refuses what the
// team does not want done by a machine. Its test suite runs on fakes alone.
//
//	platformtool -file platform.yaml plan      what would change; exit code 3 if anything would
//	platformtool -file platform.yaml apply     make it so
//	platformtool -file platform.yaml explain   where each team's workflows run
//
// As an example it reads the file platform.yaml beside it and works on clusters in memory.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/planewright/planewright"
)

//go:embed platform.yaml
var sample []byte

// errChanges says that a plan has changes: what a pipeline asks for.
var errChanges = errors.New("there are changes")

func main() {
	switch err := run(context.Background(), os.Args[1:], os.Stdout); {
	case errors.Is(err, errChanges):
		os.Exit(3)
	case err != nil:
		fmt.Fprintln(os.Stderr, "platformtool:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	set := flag.NewFlagSet("platformtool", flag.ContinueOnError)
	set.SetOutput(out)
	file := set.String("file", "", "the platform's `file` (default: a sample)")
	allow := set.Bool("allow-deletes", false, "carry out plans that delete something")
	if err := set.Parse(args); err != nil {
		return err
	}
	text := sample
	if *file != "" {
		var err error
		if text, err = os.ReadFile(*file); err != nil {
			return err
		}
	}
	platform, err := Parse(text)
	if err != nil {
		return err
	}
	world := NewFakes(platform)
	defer world.Close()
	tool := Tool{Platform: platform, Env: world.Env, AllowDeletes: *allow}
	switch verb := set.Arg(0); verb {
	case "plan", "":
		plan, err := tool.Plan(ctx)
		if err != nil {
			return err
		}
		fmt.Fprint(out, plan)
		if plan.HasChanges() {
			return errChanges
		}
		return nil
	case "apply":
		report, err := tool.Apply(ctx, planewright.WithEvents(func(e planewright.Event) {
			if e.Kind == planewright.EventFinished {
				fmt.Fprintln(out, e.Outcome, e.Step)
			}
		}))
		if report != nil {
			fmt.Fprint(out, report)
		}
		return err
	case "explain":
		fmt.Fprint(out, tool.Explain())
		return nil
	default:
		return fmt.Errorf("%q is no verb: use plan, apply or explain", verb)
	}
}
