package kubeflow_test

import (
	"encoding/json"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type kubeflowFault = kubefake.FaultOption

// afterEffect has the call take effect before the process dies.
var afterEffect = []kubeflowFault{kubefake.AfterEffect()}

// killAt kills the process at the nth write.
func killAt(w *kubeflowtest.World, n int, effect []kubeflowFault) {
	w.Fleet.Fail(kubefake.Call("write"), kubefake.Killed, append([]kubeflowFault{kubefake.After(n), kubefake.Times(1)}, effect...)...)
}

// endState is what an install leaves behind in the workload cluster, without
// what differs from run to run.
func endState(w *kubeflowtest.World) map[string]string {
	state := map[string]string{}
	for _, o := range w.Fleet.Objects(kubeflowtest.Workload) {
		switch o.GetKind() {
		case "Pod", "ReplicaSet", "Event", "Lease", "Node", "Endpoints", "PackageManifest":
			continue
		}
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"} {
			unstructured.RemoveNestedField(o.Object, "metadata", name)
		}
		if o.GetKind() != "ClusterServiceVersion" {
			unstructured.RemoveNestedField(o.Object, "status")
		}
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIPs")
		annotations := o.GetAnnotations()
		delete(annotations, "deployment.kubernetes.io/revision")
		o.SetAnnotations(annotations)
		name := o.GetName()
		if o.GetKind() == "InstallPlan" {
			name = "" // named after the Subscription's uid
			o.SetName(name)
		}
		text, err := json.Marshal(o.Object)
		if err != nil {
			panic(err)
		}
		state[o.GetKind()+" "+o.GetNamespace()+"/"+name] = string(text)
	}
	return state
}
