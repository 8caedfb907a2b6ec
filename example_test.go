package planewright_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
)

// dnsRecord is a user's own step: any system that can be read and written.
// Here its zone is a map; in earnest it is a DNS provider's client.
func dnsRecord(zone map[string]string, host, target string, needs ...string) planewright.Step {
	return planewright.Step{
		ID:      "acme/dns",
		Title:   "DNS record " + host,
		Needs:   needs,
		Objects: []planewright.Object{{Kind: "Record", Name: host}},
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			switch is := zone[host]; is {
			case target:
				return planewright.Change{Action: planewright.ActionNone}, nil
			case "":
				return planewright.Change{Action: planewright.ActionCreate}, nil
			default:
				return planewright.Change{
					Action:      planewright.ActionUpdate,
					Diff:        []planewright.FieldDiff{{Path: "target", Before: is, After: target}},
					Fingerprint: is,
				}, nil
			}
		},
		Apply: func(_ context.Context, run *planewright.Run) error {
			zone[host] = target
			run.Advise("open https://%s once the record has spread", host)
			return nil
		},
		Undo: func(context.Context, *planewright.Run) error {
			delete(zone, host)
			return nil
		},
	}
}

// A step of one's own joins a product's stack, and may need its steps.
func ExampleStack_WithSteps() {
	ctx := context.Background()
	zone := map[string]string{"flyte.acme.example": "old-balancer.example"}
	stack := planewright.NewStack("acme").WithSteps(
		dnsRecord(zone, "flyte.acme.example", "balancer.example"))

	plan, err := planewright.Plan(ctx, stack)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)

	report, err := planewright.Install(ctx, stack)
	fmt.Println(report.Changed(), report.Next, err)
	fmt.Println(zone)
	// Output:
	// ~ acme/dns  update  DNS record flyte.acme.example
	//     target: old-balancer.example → balancer.example
	// plan: 1 to update
	// [acme/dns] [open https://flyte.acme.example once the record has spread] <nil>
	// map[flyte.acme.example:balancer.example]
}

// A plan tells a pipeline whether there is anything to do, and is data that
// can be kept until somebody has approved it.
func ExamplePlan() {
	ctx := context.Background()
	zone := map[string]string{}
	stack := planewright.NewStack("acme").WithSteps(dnsRecord(zone, "flyte.acme.example", "balancer.example"))

	plan, err := planewright.Plan(ctx, stack)
	if err != nil {
		fmt.Println(err)
		return
	}
	saved, err := json.Marshal(plan)
	fmt.Println(plan.HasChanges(), len(saved) > 0, err)
	// Output: true true <nil>
}

// What went wrong is told apart without comparing texts.
func ExampleRunError() {
	broken := planewright.Step{
		ID:      "acme/dns",
		Cluster: "edge",
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			return planewright.Change{}, fmt.Errorf("zone acme.example: %w", planewright.ErrDenied)
		},
	}
	_, err := planewright.Install(context.Background(), planewright.NewStack("acme").WithSteps(broken))

	if run, ok := errors.AsType[*planewright.RunError](err); ok {
		for _, step := range run.Failed {
			fmt.Println(step.Step, step.Cluster, step.Op, errors.Is(step, planewright.ErrDenied))
		}
	}
	// Output: acme/dns edge check true
}

// A secret is named, not shown.
func ExampleSecretFromEnv() {
	password := planewright.SecretFromEnv("FLYTE_DB")
	fmt.Println(password, "from", password.Source())
	// Output: [redacted] from environment variable FLYTE_DB
}

// Outputs carry values from a step to those that need it.
func ExampleOutput() {
	address := planewright.NewOutput[string]("acme/balancer", "address")
	balancer := planewright.Step{
		ID: "acme/balancer",
		Check: func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
			address.Set(run, "203.0.113.7") // It exists already, so its address is known.
			return planewright.Change{}, nil
		},
	}
	zone := map[string]string{}
	record := planewright.Step{
		ID:    "acme/dns",
		Needs: []string{"acme/balancer"},
		Check: func(_ context.Context, run *planewright.Run) (planewright.Change, error) {
			target, err := address.Get(run)
			if err != nil {
				return planewright.Change{}, err // Unknown until the balancer has its address.
			}
			if zone["flyte.acme.example"] == target {
				return planewright.Change{}, nil
			}
			return planewright.Change{Action: planewright.ActionCreate}, nil
		},
		Apply: func(_ context.Context, run *planewright.Run) error {
			target, err := address.Get(run)
			zone["flyte.acme.example"] = target
			return err
		},
	}
	_, err := planewright.Install(context.Background(), planewright.NewStack("acme").WithSteps(balancer, record))
	fmt.Println(zone, err)
	// Output: map[flyte.acme.example:203.0.113.7] <nil>
}
