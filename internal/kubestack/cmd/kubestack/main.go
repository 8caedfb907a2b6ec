// Command kubestack builds a Kubernetes control plane from Go modules and starts
// clusters of it on this machine.
//
//	kubestack build                        build the programs, once
//	kubestack up -clusters control,data-1  start clusters, until interrupted
//	kubestack path                         print the folder with the programs
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/planewright/planewright/internal/kubestack"
)

const usage = `usage:
  kubestack build                              build the programs, once; takes minutes the first time
  kubestack up -clusters a,b [-nodes n] [...]  start clusters, until interrupted
  kubestack path                               print the folder with the programs, kubectl and helm among them

Every command takes -h.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errUsage says that the command line is wrong; the reason is already printed.
var errUsage = errors.New("usage")

// run runs the command that args name. Results go to stdout, all else to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return errUsage
	}
	switch args[0] {
	case "build":
		return build(ctx, args[1:], stdout, stderr)
	case "up":
		return up(ctx, args[1:], stdout, stderr)
	case "path":
		return path(args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	default:
		fmt.Fprintf(stderr, "kubestack: unknown command %q\n%s", args[0], usage)
		return errUsage
	}
}

// parse parses the flags of a command that takes no other arguments.
func parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "%s: unexpected argument %q\n", flags.Name(), flags.Arg(0))
		return errUsage
	}
	return nil
}

// build builds the programs and prints where they are.
func build(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if err := parse(flag.NewFlagSet("kubestack build", flag.ContinueOnError), args, stderr); err != nil {
		return err
	}
	bin, err := kubestack.Build(ctx, kubestack.Options{Log: stderr})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, bin.Dir)
	return nil
}

// path prints where the programs are.
func path(args []string, stdout, stderr io.Writer) error {
	if err := parse(flag.NewFlagSet("kubestack path", flag.ContinueOnError), args, stderr); err != nil {
		return err
	}
	bin, err := kubestack.Find(kubestack.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, bin.Dir)
	return nil
}

// up starts clusters, prints how to use them and stops them when the context ends.
func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("kubestack up", flag.ContinueOnError)
	var (
		names = flags.String("clusters", "", "names of the clusters, separated by commas (required)")
		nodes = flags.Int("nodes", 3, "number of fake nodes of each cluster")
		arch  = flags.String("arch", "amd64", "processor architecture that the nodes report")
		logs  = flags.String("logs", "", "folder that the logs are kept in (default: they go with the clusters)")
	)
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	if *names == "" {
		fmt.Fprintln(stderr, "kubestack up: -clusters is required, such as -clusters control,data-1")
		return errUsage
	}
	if *nodes < 1 {
		fmt.Fprintf(stderr, "kubestack up: -nodes %d: at least one is needed\n", *nodes)
		return errUsage
	}

	bin, err := kubestack.Build(ctx, kubestack.Options{Log: stderr})
	if err != nil {
		return err
	}
	config := kubestack.Config{Binaries: bin, LogDir: *logs, Log: stderr}
	for name := range strings.SplitSeq(*names, ",") {
		config.Clusters = append(config.Clusters, kubestack.Cluster{Name: strings.TrimSpace(name), Nodes: *nodes, NodeArch: *arch})
	}
	stack, err := kubestack.Start(ctx, config)
	if err != nil {
		return err
	}
	describe(stdout, stack, bin)
	fmt.Fprintln(stderr, "kubestack: running until interrupted")

	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr, "kubestack: stopping")
	case <-stack.Done():
	}
	// What ended by itself is the reason to stop.
	return errors.Join(stack.Err(), stack.Stop())
}

// describe prints what to type to use the clusters.
func describe(w io.Writer, stack *kubestack.Stack, bin kubestack.Binaries) {
	fmt.Fprintf(w, "contexts:   %s\n", strings.Join(stack.Clusters(), " "))
	fmt.Fprintf(w, "kubeconfig: %s\n\n", stack.KubeconfigAll())
	fmt.Fprintf(w, "export KUBECONFIG=%s\n", stack.KubeconfigAll())
	fmt.Fprintf(w, "export PATH=%s:$PATH   # kubectl and helm\n\n", bin.Dir)
	fmt.Fprintf(w, "kubectl --context %s get nodes\n", stack.Clusters()[0])
}
