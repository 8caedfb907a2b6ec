// Package kubestack builds a real Kubernetes control plane from Go modules and
// starts as many clusters of it as a test needs, as plain processes on
// 127.0.0.1. It needs the Go tool and nothing else: no container runtime, no
// image, no downloaded binary.
//
// # Building
//
// [Build] compiles etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler, kwok, kubectl and helm at the versions in this module's
// go.mod. That takes minutes the first time; the result is kept in a cache folder
// named after a hash of all that went into it and is found again in
// milliseconds. The go.mod and go.sum of this module are embedded in the package,
// so Build works from any working directory and from any module.
//
// # Starting
//
// [Start] starts one etcd and, for each cluster, an API server, a controller
// manager, a scheduler and kwok, which plays the kubelets of a few fake nodes.
// The clusters share etcd but nothing else: each has its own certificate
// authority, service account key and client certificates, so that what is valid
// on one is refused by the others, as between clusters in production. RBAC,
// the default admission plugins (ServiceAccount among them) and every default
// controller are on.
//
//	stack, err := kubestack.Start(ctx, kubestack.Config{
//		Clusters: kubestack.Named("control", "data-1"),
//	})
//	if err != nil {
//		return err
//	}
//	defer stack.Stop()
//
//	// A context named as the cluster, in a file of its own.
//	os.Setenv("KUBECONFIG", stack.Kubeconfig("data-1"))
//
// Start returns when every cluster answers, its nodes are Ready and its
// controllers have made the default ServiceAccount: from then on a workload
// that is applied gets scheduled and becomes ready.
//
// # What is simulated
//
// No container runs. A pod that is scheduled becomes Running and Ready at once, a
// Job's pod succeeds at once, so readiness proves scheduling, RBAC, admission and
// schemas, and not that an image works. Hence there are no logs, no exec and no
// port forwarding, webhooks and aggregated APIs that are served by pods never
// answer, and a LoadBalancer Service gets no address. A claim of the default
// StorageClass, standard, gets a volume that exists in name only. A pod with an image
// whose name contains [NeverPulls] stays in ImagePullBackOff, as a test of a time-out
// needs.
//
// # Lifetime
//
// A [Stack] lives until [Stack.Stop], which kills its processes and removes its
// folder. On Linux the kernel also kills them when the process that started
// them ends without Stop; the folder is then removed by the next Start. Any number
// of stacks, in one process or in several, run side by side.
//
// The package works on Unix systems.
package kubestack
