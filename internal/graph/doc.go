// Package graph runs a set of nodes that need one another: each as soon as
// what it needs is done, as many at a time as the limits allow, the ones with
// the longest way still ahead of them first. A node that fails stops only
// those that need it. It knows nothing of what the nodes do.
//
//	results := graph.Run(ctx, []graph.Node{
//		{ID: "namespace", Run: makeNamespace},
//		{ID: "release", Needs: []string{"namespace"}, Run: installRelease},
//	}, graph.Limits{Total: 8})
package graph
