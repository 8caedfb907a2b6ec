// Package kubetest is the contract of package kube's ports as a test suite.
// Every adapter passes it, on clusters in memory and on real ones:
//
//	func TestContract(t *testing.T) {
//		fleet := kubefake.NewFleet("dp-1")
//		kubetest.Run(t, func(*testing.T) kube.Cluster { return fleet.Cluster("dp-1") })
//	}
//
// The suite needs credentials that may do anything, at least one node, and a
// default storage class. Each test works in a namespace of its own, whose name
// follows from the test's name and starts with "kubetest-", and deletes it in
// the end, with what it made outside of it. Tests run in parallel, so a
// cluster may serve several at once.
//
// What some clusters cannot do is left out by an [Option].
package kubetest
