// Package kubeflowtest holds a platform in memory that Kubeflow can be
// installed on: a global and a workload cluster of package kube/kubefake, with
// what an install waits for simulated.
//
//	world := kubeflowtest.NewWorld()
//	defer world.Close()
//
//	stack := kubeflow.NewKubeflowStack("ml", world.Release(), "global", "workload").
//		WithHost(kubeflowtest.Host)
//	report, err := stack.Install(ctx, world.Env())
//
// Simulated are the Operator Lifecycle Manager (catalog, install plans, CSVs),
// the operators of Kubeflow with their custom resources, the profile controller,
// and both service meshes. [World.Break] has them fail in the ways that the
// table of [kubeflow.Sign] knows; [World.Offer] changes what the catalog offers.
//
// The simulation reads the clusters directly. What it writes are calls on the
// fleet, so they are in its call log and meet its faults: creations are not,
// statuses ("InstallPlan/status") and deletions are. When nothing changes it
// writes nothing. While the fleet is killed it stands still.
//
// [NewWorldOn] runs the same simulation as controllers beside API servers that
// are there, real ones most of all, with definitions that take any content.
//
// It is more lenient than the real thing: any set of versions resolves, roles
// and permissions of operators are not looked at, packages need no time to
// appear, and charts are a few Deployments.
package kubeflowtest
