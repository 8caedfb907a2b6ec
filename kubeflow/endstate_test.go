package kubeflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// write is one call that persisted something: the nth of its kind.
type write struct {
	call kubefake.CallRecord
	nth  int
}

func (s write) match() kubefake.Match {
	name := s.call.Name
	if s.call.Namespace != "" {
		name = s.call.Namespace + "/" + s.call.Name
	}
	return kubefake.Call(s.call.Verb).On(s.call.Cluster).Kind(s.call.Kind).Named(name)
}

func (s write) String() string { return fmt.Sprintf("%s #%d", s.match(), s.nth+1) }

// writesOf are the writes of an install. Statuses are the simulation's, and
// install plans have other names in every run.
func writesOf(w *kubeflowtest.World) []write {
	var list []write
	seen := map[string]int{}
	for _, c := range w.Fleet.Calls() {
		if !c.Persisted || c.Subresource != "" {
			continue
		}
		s := write{call: c}
		if c.Kind == "InstallPlan" {
			s.call.Name = "*"
		}
		s.nth = seen[s.match().String()]
		seen[s.match().String()]++
		list = append(list, s)
	}
	return list
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
			// It is named after the Subscription's uid.
			csvs, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "clusterServiceVersionNames")
			name = strings.Join(csvs, ",")
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

// differences names what differs between two end states, one a line.
func differences(want, got map[string]string) []string {
	var list []string
	for name, text := range want {
		if got[name] != text {
			list = append(list, fmt.Sprintf("%s\n  want %s\n  got  %s", name, text, got[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			list = append(list, name+" is there, and should not be")
		}
	}
	slices.Sort(list)
	return list
}
