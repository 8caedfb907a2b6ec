//go:build tools

// Package tools names the programs that kubestack builds, so that go mod tidy
// keeps their modules in go.mod at the versions chosen there.
//
// It is a folder of its own, apart from package kubestack: go mod tidy looks
// behind every build tag of every package it meets, and a module that imports
// kubestack must not inherit the dependencies of a whole Kubernetes.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "helm.sh/helm/v3/cmd/helm"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
