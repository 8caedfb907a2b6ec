package iam_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrustInExactServiceAccounts(t *testing.T) {
	d, err := controlPlane().Document()
	require.NoError(t, err)
	assert.Equal(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",`+
		`"Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/`+mainID+`"},"Action":"sts:AssumeRoleWithWebIdentity",`+
		`"Condition":{"StringEquals":{"`+mainID+`:aud":"sts.amazonaws.com",`+
		`"`+mainID+`:sub":["system:serviceaccount:flyte:datacatalog","system:serviceaccount:flyte:flyteadmin"]}}}]}`, d.String())
	assert.Empty(t, d.Findings(), "no stray dot in a key, an audience and subjects")
}

func TestPatternsAreUnderStringLikeAndTheAudienceIsNot(t *testing.T) {
	d, err := dataPlane(dp1ID).Document()
	require.NoError(t, err)
	assert.Equal(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",`+
		`"Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/`+dp1ID+`"},"Action":"sts:AssumeRoleWithWebIdentity",`+
		`"Condition":{"StringEquals":{"`+dp1ID+`:aud":"sts.amazonaws.com"},`+
		`"StringLike":{"`+dp1ID+`:sub":["system:serviceaccount:*:default","system:serviceaccount:flyte:flytepropeller"]}}}]}`, d.String(),
		"exact subjects and patterns are one list: two operators would both have to hold")
}

func TestTrustInOtherPartitions(t *testing.T) {
	for partition, c := range map[iam.Partition]struct{ region, issuer, arn string }{
		iam.AWS:      {"eu-west-1", "https://oidc.eks.eu-west-1.amazonaws.com/id/A", "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/A"},
		iam.China:    {"cn-northwest-1", "https://oidc.eks.cn-northwest-1.amazonaws.com.cn/id/A", "arn:aws-cn:iam::123456789012:oidc-provider/oidc.eks.cn-northwest-1.amazonaws.com.cn/id/A"},
		iam.GovCloud: {"us-gov-west-1", "https://oidc.eks.us-gov-west-1.amazonaws.com/id/A", "arn:aws-us-gov:iam::123456789012:oidc-provider/oidc.eks.us-gov-west-1.amazonaws.com/id/A"},
		iam.ISOE:     {"eu-isoe-west-1", "https://oidc.eks.eu-isoe-west-1.cloud.adc-e.uk/id/A", "arn:aws-iso-e:iam::123456789012:oidc-provider/oidc.eks.eu-isoe-west-1.cloud.adc-e.uk/id/A"},
	} {
		assert.Equal(t, partition, iam.PartitionOf(c.region))
		p := iam.NewOIDCProvider(partition, account, c.issuer)
		assert.Equal(t, c.arn, p.ARN())
		d, err := iam.NewTrustPolicy().WithServiceAccounts(p, iam.ServiceAccount("flyte", "flyteadmin")).Document()
		require.NoError(t, err)
		assert.Contains(t, d.String(), `:aud":"sts.amazonaws.com"`, "the audience is the same everywhere")
	}
}

func TestTrustInPodIdentityAndServices(t *testing.T) {
	d, err := iam.NewTrustPolicy().WithPodIdentity().WithService("ec2.amazonaws.com").Document()
	require.NoError(t, err)
	assert.Equal(t, `{"Version":"2012-10-17","Statement":[`+
		`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"},`+
		`{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`, d.String())
	assert.Empty(t, d.Findings(), "a service of AWS is not too open")

	d, err = iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{
		Clusters: []string{"arn:aws:eks:us-east-1:123456789012:cluster/dp-1"}, Namespaces: []string{"flyte"}, SourceAccount: account,
	}).Document()
	require.NoError(t, err)
	assert.Contains(t, d.String(), `"Condition":{"StringEquals":{"aws:RequestTag/eks-cluster-arn":"arn:aws:eks:us-east-1:123456789012:cluster/dp-1",`+
		`"aws:RequestTag/kubernetes-namespace":"flyte","aws:SourceAccount":"123456789012"}}`)
}

func TestTrustThatIsRefused(t *testing.T) {
	of := func(partition iam.Partition, account, issuer string, subjects ...iam.Subject) iam.TrustPolicy {
		if subjects == nil {
			subjects = []iam.Subject{iam.ServiceAccount("flyte", "flyteadmin")}
		}
		return iam.NewTrustPolicy().WithServiceAccounts(iam.NewOIDCProvider(partition, account, issuer), subjects...)
	}
	const issuer = "https://" + mainID
	for name, c := range map[string]struct {
		trust iam.TrustPolicy
		want  []string
	}{
		"nobody":               {iam.NewTrustPolicy(), []string{"a trust policy trusts somebody"}},
		"an issuer by http":    {of(iam.AWS, account, "http://"+mainID), []string{`serviceAccounts[0].provider.issuer "http://` + mainID + `": an issuer is reached by https`}},
		"a bare issuer":        {of(iam.AWS, account, mainID), []string{"an issuer is reached by https"}},
		"a scheme in capitals": {of(iam.AWS, account, "HTTPS://"+mainID), []string{"an issuer is reached by https"}},
		"a comma in it":        {of(iam.AWS, account, issuer+",x"), []string{"an issuer is a scheme, a host and a path"}},
		"an empty part":        {of(iam.AWS, account, "https://oidc.example.com//id"), []string{"an issuer is a scheme, a host and a path"}},
		"letters of others":    {of(iam.AWS, account, "https://oidc.exämple.com/id"), []string{"an issuer is a scheme, a host and a path"}},
		"a port":               {of(iam.AWS, account, "https://oidc.example.com:443/id/A"), []string{"IAM takes no issuer with a port"}},
		"a dot at its end":     {of(iam.AWS, account, issuer+"."), []string{"an issuer does not end in a dot: condition keys made of it would never match"}},
		"a slash at its end":   {of(iam.AWS, account, issuer+"/"), []string{"an issuer does not end in a slash"}},
		"a quote in it":        {of(iam.AWS, account, issuer+`","x":"`), []string{"an issuer is a scheme, a host and a path"}},
		"no account":           {of(iam.AWS, "1234", issuer), []string{"an account id has 12 digits"}},
		"aws-gov":              {of("aws-gov", account, issuer), []string{`"aws-gov": there is no such partition of AWS; fix: GovCloud's is aws-us-gov`}},
		"two partitions": {of(iam.GovCloud, account, issuer).Merge(of(iam.AWS, account, "https://"+dp1ID)),
			[]string{`"aws, aws-us-gov": one role is in one partition, and trusts nobody in another`}},
		"two accounts": {of(iam.AWS, account, issuer).Merge(of(iam.AWS, "999999999999", "https://"+dp1ID)),
			[]string{`"123456789012, 999999999999": a role trusts OIDC providers of its own account only`}},
		"no subjects":                      {of(iam.AWS, account, issuer, []iam.Subject{}...), []string{"without subjects every ServiceAccount of the cluster would be trusted"}},
		"a wildcard that would be literal": {of(iam.AWS, account, issuer, iam.ServiceAccount("*", "default")), []string{"a wildcard under StringEquals stands for itself and never matches"}},
		"every namespace":                  {of(iam.AWS, account, issuer, iam.ServiceAccountPattern("*", "default")), []string{"it covers every namespace, kube-system and any that somebody makes included"}},
		"every namespace in disguise":      {of(iam.AWS, account, issuer, iam.ServiceAccountPattern("?**", "default")), []string{"it covers every namespace"}},
		"everybody, even with the opt-in":  {of(iam.AWS, account, issuer, iam.ServiceAccountPattern("*", "*")).AllowingAnyNamespace(), []string{"every ServiceAccount of the cluster would be trusted"}},
		"names that are none": {of(iam.AWS, account, issuer, iam.ServiceAccount("Flyte", "flyte_admin")),
			[]string{"serviceAccounts[0].subjects[0].namespace", "serviceAccounts[0].subjects[0].name"}},
		"China's endpoint as audience": {controlPlane().WithAudience("sts.amazonaws.com.cn"), []string{"the audience of EKS's tokens is sts.amazonaws.com in China too"}},
		"a service that is none":       {iam.NewTrustPolicy().WithService("*"), []string{"a service of AWS is called like eks.amazonaws.com"}},
		"Pod Identity of a node group": {iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{Clusters: []string{"arn:aws:eks:us-east-1:123456789012:nodegroup/dp-1/a/b"}}), []string{"a cluster is named by its ARN"}},
		"Pod Identity of all clusters": {iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{Clusters: []string{"arn:aws:eks:us-east-1:123456789012:cluster/*"}}), []string{"a cluster is named by its ARN"}},
		"Pod Identity in another partition": {controlPlane().WithPodIdentity(iam.PodIdentity{Clusters: []string{"arn:aws-cn:eks:cn-north-1:123456789012:cluster/dp-1"}}),
			[]string{`"aws, aws-cn": one role is in one partition`}},
		"Pod Identity of a cluster that is not in the account": {iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{SourceAccount: "999999999999", Clusters: []string{"arn:aws:eks:us-east-1:123456789012:cluster/dp-1"}}),
			[]string{"the cluster is in account 123456789012, and those of account 999999999999 alone are trusted"}},
		"Pod Identity of a pattern": {iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{Namespaces: []string{"*"}}), []string{"a wildcard stands for itself"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no subjects" {
				c.trust = iam.NewTrustPolicy().WithServiceAccounts(provider(mainID))
			}
			err := c.trust.Validate()
			require.ErrorIs(t, err, planewright.ErrInvalid)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			_, err = c.trust.Document()
			require.ErrorIs(t, err, planewright.ErrInvalid)
			if !c.trust.IsZero() {
				_, err = iam.Document{}.MergeTrust(c.trust)
				require.ErrorIs(t, err, planewright.ErrInvalid)
			}
		})
	}
}

func TestATrustPolicyCanBeSharedAndVaried(t *testing.T) {
	base := controlPlane()
	one := base.WithServiceAccounts(provider(mainID), iam.ServiceAccount("flyte", "one"))
	two := base.WithServiceAccounts(provider(mainID), iam.ServiceAccount("flyte", "two"))
	first, err := one.Document()
	require.NoError(t, err)
	second, err := two.Document()
	require.NoError(t, err)
	assert.NotContains(t, first.String(), ":two")
	assert.NotContains(t, second.String(), ":one")
	assert.Len(t, base.Merge(dataPlane(dp1ID)).Providers(), 2)
}

func TestARNs(t *testing.T) {
	arn, err := iam.ParseARN("arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/main")
	require.NoError(t, err)
	assert.Equal(t, iam.ARN{Partition: iam.GovCloud, Service: "eks", Region: "us-gov-west-1", AccountID: account, Resource: "cluster/main"}, arn)
	assert.Equal(t, "arn:aws:iam::123456789012:role/flyte", iam.RoleARN(iam.AWS, account, "", "flyte"))
	assert.Equal(t, "arn:aws:iam::123456789012:role/ml/flyte", iam.RoleARN(iam.AWS, account, "/ml/", "flyte"))
	assert.Equal(t, "arn:aws-cn:iam::aws:policy/AmazonEKSClusterPolicy", iam.PolicyARN(iam.China, "aws", "/", "AmazonEKSClusterPolicy"))
	for text, want := range map[string]string{
		"":                                "it has the form arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE",
		"arn:aws-gov:iam::1:role/x":       `the partition of GovCloud is "aws-us-gov"`,
		"arn:aws2:iam::1:role/x":          `there is no partition "aws2"`,
		"arn:aws:iam::1:role/x":           "an account id has 12 digits",
		"arn:aws:iam::123456789012:":      "it names no resource",
		"arn:aws::us-east-1:1:cluster":    "it names no service",
		"arn:aws:s3:::bucket with spaces": "a character that no ARN has",
	} {
		_, err := iam.ParseARN(text)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	_, err = iam.ParseOIDCProvider("arn:aws:iam::123456789012:role/flyte")
	assert.ErrorContains(t, err, "not of an OIDC provider")
}
