// Command trustpolicy builds the trust policy of a role that a control plane
// and data planes share, merges it into one that exists, and explains how many
// clusters its quota has room for. It talks to nobody.
//
//	trustpolicy                          # a sample document, with what is added to it
//	trustpolicy -document role.json      # your own: aws iam get-role --query Role.AssumeRolePolicyDocument
//	trustpolicy -simulate                # who may assume the role, and which condition decides
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/planewright/planewright/cloud/iam"
)

//go:embed sample.json
var sample string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// The account of the demonstration, and its clusters' issuers.
const (
	account = "123456789012"
	issuer  = "https://oidc.eks.us-east-1.amazonaws.com/id/%s"
)

// provider is the OIDC provider of a cluster.
func provider(cluster string) iam.OIDCProvider {
	id := strings.ToUpper(strings.ReplaceAll(cluster, "-", ""))
	return iam.NewOIDCProvider(iam.AWS, account, fmt.Sprintf(issuer, strings.Repeat("0", 32-len(id))+id))
}

// trust is whom the role trusts: Flyte's own ServiceAccounts in the control
// plane, propeller and the user code of all projects' domains in the data planes.
func trust() iam.TrustPolicy {
	policy := iam.NewTrustPolicy().
		WithServiceAccounts(provider("control"), iam.ServiceAccount("flyte", "flyteadmin"), iam.ServiceAccount("flyte", "datacatalog"))
	for _, cluster := range []string{"dp-1", "dp-2"} {
		policy = policy.WithServiceAccounts(provider(cluster),
			iam.ServiceAccount("flyte", "flytepropeller"),
			iam.ServiceAccountPattern("*-development", "default"),
			iam.ServiceAccountPattern("*-production", "default"))
	}
	return policy
}

func run(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("trustpolicy", flag.ContinueOnError)
	set.SetOutput(stderr)
	file := set.String("document", "", "merge into the trust policy in this `file`, plain or percent-encoded")
	limit := set.Int("limit", iam.DefaultTrustPolicyLimit, "how many `characters` the account allows")
	simulate := set.Bool("simulate", false, "tell who may assume the role, and which condition decides")
	if set.Parse(args) != nil {
		return 2
	}
	text := sample
	if *file != "" {
		data, err := os.ReadFile(*file)
		if err != nil {
			fmt.Fprintln(stderr, "trustpolicy:", err)
			return 1
		}
		text = string(data)
	}
	merged, err := merge(text)
	if err != nil {
		fmt.Fprintln(stderr, "trustpolicy:", err)
		return 1
	}
	if *simulate {
		show(stdout, merged.Document)
		return 0
	}
	fmt.Fprintln(stdout, "== what is added to the document")
	for _, change := range merged.Diff {
		fmt.Fprintln(stdout, change)
	}
	if !merged.Changed {
		fmt.Fprintln(stdout, "nothing: it says so already")
	}
	for _, finding := range merged.Document.Findings() {
		fmt.Fprintln(stdout, finding)
	}
	fmt.Fprintf(stdout, "\n== the document\n%s\n", merged.Document.Indented())
	fmt.Fprintf(stdout, "\n== its budget\n%s\n", merged.Document.Budget(*limit))
	if err := merged.Document.CheckLength("the document", *limit); err != nil {
		fmt.Fprintln(stderr, "trustpolicy:", err)
		return 1
	}
	return 0
}

func merge(text string) (iam.Merged, error) {
	document, err := iam.ParseDocument(text)
	if err != nil {
		return iam.Merged{}, err
	}
	return document.MergeTrust(trust())
}

// show tells of some callers whether they may assume the role.
func show(w io.Writer, document iam.Document) {
	for _, caller := range []struct{ cluster, namespace, name string }{
		{"control", "flyte", "flyteadmin"},
		{"control", "flyte", "datacatalog"},
		{"control", "flyte", "default"},
		{"dp-1", "flyte", "flytepropeller"},
		{"dp-1", "team1-production", "default"},
		{"dp-2", "team1-production", "default"},
		{"dp-2", "kube-system", "default"},
		{"dp-3", "flyte", "flytepropeller"},
	} {
		decision := iam.Evaluate(document, iam.WebIdentityRequest(provider(caller.cluster), iam.ServiceAccount(caller.namespace, caller.name)))
		answer := "may not"
		if decision.Allowed {
			answer = "may"
		}
		fmt.Fprintf(w, "%-8s %-34s %s\n         %s\n", answer, caller.cluster+" "+caller.namespace+"/"+caller.name, decision.Condition, decision.Reason)
	}
}
