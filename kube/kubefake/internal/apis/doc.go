// Package apis knows the kinds that a Kubernetes API server serves by itself:
// their names, their Go types, how their fields merge, what they default to
// and which rules they must keep. Nothing in it is about one cluster, so all
// clusters of a process share it.
package apis
