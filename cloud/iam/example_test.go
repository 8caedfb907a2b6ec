package iam_test

import (
	"fmt"

	"github.com/planewright/planewright/cloud/iam"
)

func Example() {
	const issuer = "https://oidc.eks.us-east-1.amazonaws.com/id/MAIN"
	main := iam.NewOIDCProvider(iam.AWS, "123456789012", issuer)
	trust := iam.NewTrustPolicy().WithServiceAccounts(main, iam.ServiceAccount("flyte", "flyteadmin"))

	document, err := trust.Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(document.Indented())
	fmt.Println(document.Budget(iam.DefaultTrustPolicyLimit))
	// Output:
	// {
	//   "Version": "2012-10-17",
	//   "Statement": [
	//     {
	//       "Effect": "Allow",
	//       "Principal": {
	//         "Federated": "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/MAIN"
	//       },
	//       "Action": "sts:AssumeRoleWithWebIdentity",
	//       "Condition": {
	//         "StringEquals": {
	//           "oidc.eks.us-east-1.amazonaws.com/id/MAIN:aud": "sts.amazonaws.com",
	//           "oidc.eks.us-east-1.amazonaws.com/id/MAIN:sub": "system:serviceaccount:flyte:flyteadmin"
	//         }
	//       }
	//     }
	//   ]
	// }
	// 393 of 2048 characters used; a cluster takes 355, so 4 more fit
}

func ExampleDocument_MergeTrust() {
	live, err := iam.ParseDocument(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	dp1 := iam.NewOIDCProvider(iam.AWS, "123456789012", "https://oidc.eks.us-east-1.amazonaws.com/id/DP1")
	merged, err := live.MergeTrust(iam.NewTrustPolicy().WithServiceAccounts(dp1,
		iam.ServiceAccount("flyte", "flytepropeller"), iam.ServiceAccountPattern("*-production", "default")))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, change := range merged.Diff {
		fmt.Println(change)
	}
	// Output:
	// trust[oidc.eks.us-east-1.amazonaws.com/id/DP1][*-production:default]: + StringLike
	// trust[oidc.eks.us-east-1.amazonaws.com/id/DP1][flyte:flytepropeller]: + StringLike
}

func ExampleNewPolicy() {
	document, err := iam.NewPolicy().WithBuckets(iam.NewBucket("acme-models").ReadOnly()).Document()
	fmt.Println(document, err)
	// Output:
	// {"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":"arn:aws:s3:::acme-models"},{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::acme-models/*"}]} <nil>
}

func ExampleEvaluate() {
	main := iam.NewOIDCProvider(iam.AWS, "123456789012", "https://oidc.eks.us-east-1.amazonaws.com/id/MAIN")
	document, err := iam.NewTrustPolicy().WithServiceAccounts(main, iam.ServiceAccount("flyte", "flyteadmin")).Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"flyteadmin", "default"} {
		decision := iam.Evaluate(document, iam.WebIdentityRequest(main, iam.ServiceAccount("flyte", name)))
		fmt.Println(name, decision.Allowed, "by", decision.Condition)
	}
	// Output:
	// flyteadmin true by StringEquals oidc.eks.us-east-1.amazonaws.com/id/MAIN:sub
	// default false by StringEquals oidc.eks.us-east-1.amazonaws.com/id/MAIN:sub
}
