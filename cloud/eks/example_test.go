package eks_test

import (
	"context"
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks/eksfake"
)

func Example() {
	ctx := context.Background()
	aws := eksfake.New("123456789012", "us-east-1", "main") // with credentials: eks.Open(ctx, configuration)
	account := aws.Account()

	identity := account.Identities.Provision("demo/ml/identity", cloud.IdentitySpec{
		Name: "flyte-backend", Owner: "demo.ml",
		Subjects: []cloud.Subject{{Cluster: account.Cluster("main"), Namespace: "flyte", ServiceAccount: "flyte-backend-flyte-binary"}},
		Buckets:  []cloud.BucketAccess{{Bucket: "acme-flyte"}},
	})
	if identity.Err != nil {
		fmt.Println(identity.Err)
		return
	}
	fmt.Println(identity.Identities[0].Annotations)

	stack := planewright.NewStack("demo/ml").WithSteps(identity.Steps...).WithProbes(identity.Probes...)
	report, err := planewright.Install(ctx, stack)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range report.Changed() {
		fmt.Println(id)
	}
	// Output:
	// map[eks.amazonaws.com/role-arn:arn:aws:iam::123456789012:role/flyte-backend]
	// demo/ml/identity/flyte-backend/policy
	// demo/ml/identity/oidc-provider/main
	// demo/ml/identity/flyte-backend/role
}
