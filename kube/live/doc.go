// Package live is the one adapter of package kube: clusters behind an API
// server, reached through client-go, controller-runtime's client and Helm.
//
//	cluster, err := live.FromKubeconfig("", "ml-prod")   // default loading rules, one context
//	cluster, err := live.InCluster("ml-prod")            // from inside a pod
//	cluster, err := live.FromConfig("ml-prod", config)   // any rest.Config, a fake cluster's too
//
// The result is a [kube.Cluster] whose ports are all set. Nothing is sent to
// the API server before a port is used.
//
// # What it guarantees
//
// Nothing goes to stdout or stderr: warnings of the API server, Helm's log and
// client-go's log go to the logger of [WithLogger], or nowhere. What two others
// print is not ours to catch: a credential program that a kubeconfig names, and
// Helm where a chart looks up a kind that the cluster does not serve. Nothing is
// read from stdin, so a credential program cannot ask.
//
// Errors match the sentinels of package planewright, name object and cluster,
// and say by [planewright.Retryable] whether trying again makes sense.
//
// Every request is bounded by the context, and by a minute of its own, so that
// a server that stops answering is an error and not a hang. Waits are watches.
//
// Helm is driven as a library and is this package's secret. A release looks as
// if the helm command had made it: same records, same labels, same field
// manager. Helm's operations cannot be stopped half way, so none of them
// returns before Helm has stopped writing.
//
// What the API server serves is asked once and kept for ten minutes, or until a
// kind is asked for that was not served.
package live
