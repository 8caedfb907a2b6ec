// Command tenants gives teams their namespaces in a Kubeflow that is there:
// owners, admins, editors and viewers, quotas, pod security, and somebody in a
// namespace that is older than Kubeflow. It tells under which names each person's
// objects are found, as Kubeflow's own dashboard would call them.
//
//	tenants                                   in memory: Kubeflow is installed first, without a word
//	tenants -role bo@acme.example=view        what becomes of a person's old role
//	tenants -role bo@acme.example=none        and of one who leaves
//
// With -kubeconfig it runs on a real platform, where Kubeflow is taken to be
// there, unless -from-scratch says otherwise. See -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	// role changes the role of one person in all teams, empty if it does not: "bo@acme.example=view".
	role string
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:     "tenants",
		About:    "gives teams their namespaces in Kubeflow",
		Clusters: []string{"global", "workload"},
		Simulate: simulate,
		Flags:    d.flags,
		Prepare:  d.prepare,
		Before:   d.before,
		Tell:     d.tell,
		Stack: func(world program.World) planewright.Stack {
			return tenants(d.teams()).On(kubeflow.NewEnv(world.Clusters...))
		},
	}
}

func (d *demo) flags(set *flag.FlagSet) {
	set.StringVar(&d.role, "role", "", "give a person another role in all teams, as in `user=role`:\nadmin, edit, view, or none")
}

// simulate makes a platform in memory, with a namespace of which Kubeflow knows nothing.
func simulate() program.Simulation {
	legacy := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "legacy"}}}
	platform := kubeflowtest.NewWorld(kubeflowtest.WithWorkloadObjects(legacy))
	return program.Simulation{Fleet: platform.Fleet, Settle: platform.Settle, Close: platform.Close}
}

func (d *demo) prepare(_ context.Context, world program.World) (program.World, error) {
	if d.role == "" {
		return world, nil
	}
	user, role, _ := strings.Cut(d.role, "=")
	if !slices.Contains([]string{"admin", "edit", "view", "none"}, role) {
		return world, fmt.Errorf("-role %q: it is user=role, and a role is admin, edit, view or none", d.role)
	}
	if !slices.ContainsFunc(teams(), func(t team) bool { return t.people[user] != "" }) {
		return world, fmt.Errorf("-role %q: no team has %s", d.role, user)
	}
	return world, nil
}

// before is the Kubeflow that the teams come into; with -role the teams are there, too.
func (d *demo) before(world program.World) planewright.Stack {
	env := kubeflow.NewEnv(world.Clusters...)
	if d.role != "" {
		return tenants(teams()).On(env)
	}
	return installed().On(env)
}

// installed is a Kubeflow without tenants.
func installed() kubeflow.KubeflowStack {
	release := kubeflow.Release2603().WithPin(kubeflow.ComponentBase, "kfbase-operator.v26.3.0")
	return kubeflow.NewKubeflowStack("ml", release, "global", "workload").WithHost("kubeflow.acme.example")
}

// tenants is the Kubeflow with its tenants.
func tenants(teams []team) kubeflow.KubeflowStack {
	stack := installed().
		// A personal profile, under the name that is usual for it.
		WithProfiles(kubeflow.NewProfile(kubeflow.ProfileName("gus@acme.example"), "gus@acme.example")).
		WithNamespaceBindings(kubeflow.NewNamespaceBinding("legacy", "fay@acme.example").WithRole(kubeflow.RoleEdit))
	for _, t := range teams {
		stack = stack.WithProfiles(t.profile())
	}
	return stack
}

// tell lists who is let in where, and the names of each person's RoleBinding
// and AuthorizationPolicy.
func (d *demo) tell(_ context.Context, _ program.World, out io.Writer) error {
	for _, t := range d.teams() {
		fmt.Fprintf(out, "%-8s %-18s owner\n", t.name, t.owner)
		for _, b := range t.profile().Bindings() {
			fmt.Fprintf(out, "%-8s %-18s %-5s %s\n", "", b.User, b.Role, b.Name())
		}
	}
	return nil
}
