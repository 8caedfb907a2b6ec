// Package kube holds the ports to a Kubernetes cluster: objects, Helm
// releases, facts about the cluster, and port-forwards. It stands on
// apimachinery alone; the one adapter is package kube/live, and package
// kube/kubefake holds clusters in memory that the adapter talks to.
package kube
