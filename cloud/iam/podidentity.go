package iam

import (
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// PodIdentity narrows the trust in EKS Pod Identity by the tags that it puts on
// its sessions. Empty fields do not narrow; all that are set must hold.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html
type PodIdentity struct {
	// Clusters are ARNs of clusters, Namespaces and ServiceAccounts names.
	Clusters, Namespaces, ServiceAccounts []string
	// SourceAccount is the account that the cluster must be in.
	SourceAccount string
}

// The service and the actions of Pod Identity.
const podIdentityService = "pods.eks.amazonaws.com"

func podIdentityActions() []string { return []string{"sts:AssumeRole", "sts:TagSession"} }

func (i PodIdentity) clause() clause {
	c := clause{principalType: "Service", principal: podIdentityService, actions: podIdentityActions()}
	add := func(key string, values []string) {
		if len(values) > 0 {
			c.conditions = append(c.conditions, condition{"StringEquals", key, slices.Clone(values)})
		}
	}
	add("aws:RequestTag/eks-cluster-arn", i.Clusters)
	add("aws:RequestTag/kubernetes-namespace", i.Namespaces)
	add("aws:RequestTag/kubernetes-service-account", i.ServiceAccounts)
	if i.SourceAccount != "" {
		add("aws:SourceAccount", []string{i.SourceAccount})
	}
	return c
}

func (i PodIdentity) validate(p *planewright.Problems, path string) {
	for _, text := range i.Clusters {
		arn, err := ParseARN(text)
		switch {
		case err != nil || arn.Service != "eks" || !strings.HasPrefix(arn.Resource, "cluster/") || strings.ContainsAny(text, "*?"):
			p.Add(path+".clusters", text, "a cluster is named by its ARN", "use arn:PARTITION:eks:REGION:ACCOUNT:cluster/NAME")
		case i.SourceAccount != "" && arn.AccountID != i.SourceAccount:
			p.Add(path+".clusters", text, "the cluster is in account "+arn.AccountID+", and those of account "+i.SourceAccount+" alone are trusted, so it never is", "name the cluster's account, or leave sourceAccount out")
		}
	}
	for _, name := range i.Namespaces {
		if !namespaceName.MatchString(name) {
			p.Add(path+".namespaces", name, "a namespace is at most 63 lower-case letters, digits and hyphens; a wildcard stands for itself", "use the namespace's name")
		}
	}
	for _, name := range i.ServiceAccounts {
		if !accountName.MatchString(name) {
			p.Add(path+".serviceAccounts", name, "a ServiceAccount's name is lower-case letters, digits, hyphens and dots; a wildcard stands for itself", "use the ServiceAccount's name")
		}
	}
	if i.SourceAccount != "" && !accountID.MatchString(i.SourceAccount) {
		p.Add(path+".sourceAccount", i.SourceAccount, "an account id has 12 digits", "use the cluster's account")
	}
}
