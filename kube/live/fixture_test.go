package live_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// owner is the stack that the tests' releases belong to.
const owner = "flyte/ml"

// parse reads one object.
func parse(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &obj.Object))
	return obj
}

// apply applies objects one after the other.
func apply(t *testing.T, cluster kube.Cluster, manifests ...string) {
	t.Helper()
	for _, m := range manifests {
		_, err := cluster.Objects.Apply(t.Context(), parse(t, m), kube.ApplyOptions{})
		require.NoError(t, err)
	}
}

// inTime is a context for what must not take long.
func inTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// fleetOf starts clusters that have the namespace "flyte".
func fleetOf(t *testing.T, names ...string) *kubefake.Fleet {
	t.Helper()
	fleet := kubefake.NewFleet(names...)
	t.Cleanup(fleet.Close)
	for _, cluster := range fleet.Clusters() {
		apply(t, cluster, "{apiVersion: v1, kind: Namespace, metadata: {name: flyte}}")
	}
	fleet.ForgetCalls()
	return fleet
}

// chartOf makes a chart of its files.
func chartOf(version string, files map[string]string) *kube.Chart {
	list := []kube.ChartFile{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: demo\nversion: " + version + "\nappVersion: \"7\"\n")}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, kube.ChartFile{Name: name, Data: []byte(files[name])})
	}
	return kube.NewChart("demo", version, "7", "", list)
}

// demoFiles is a chart with what tends to look like drift: stringData, a
// quantity that is a number, nulls, empty fields; and with a definition among
// its templates, as flyte-core has.
func demoFiles() map[string]string {
	return map[string]string{
		"values.yaml": `
replicas: 1
greeting: hello
password: null
extra: false
refuse: ""
`,
		"templates/serviceaccount.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Release.Name }}\n",
		"templates/secret.yaml": `
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
  annotations:
type: Opaque
stringData:
  password: {{ .Values.password | default "none" | quote }}
`,
		"templates/config.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | quote }}
  document: |
    one: 1
    ---
    two: 2
`,
		"templates/role.yaml": `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Namespace }}-{{ .Release.Name }}
rules:
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["get"]
`,
		"templates/deployment.yaml": `
{{- if .Values.refuse }}{{ fail (printf "refuse is set to %s, unset it" .Values.refuse) }}{{ end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      annotations:
      labels: {app: {{ .Release.Name }}}
    spec:
      hostNetwork: false
      securityContext: {}
      nodeSelector:
      containers:
      - name: main
        image: demo:7
        command:
        env:
        - name: GREETING
          value: {{ .Values.greeting | quote }}
        ports:
        - {name: http, containerPort: 8080}
        resources:
          limits: {cpu: 1, memory: 1024Mi}
          requests: {cpu: 0.5}
`,
		"templates/service.yaml": `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports:
  - {name: http, port: 80, targetPort: http}
`,
		"templates/definition.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.demo.example.com
spec:
  group: demo.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`,
		"templates/extra.yaml": `
{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-extra
data: {a: "1"}
{{- end }}
`,
		"templates/NOTES.txt": "Thank you for installing {{ .Chart.Name }}.",
	}
}

// with returns the files with some added or replaced.
func with(files map[string]string, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, files)
	maps.Copy(all, more)
	return all
}

// demo is a release of the demo chart.
func demo(values kube.Values) kube.Release {
	return kube.Release{Name: "demo", Namespace: "flyte", Chart: chartOf("1.0.0", demoFiles()), Values: values, Owner: owner}
}

// paths are the paths of a plan's differences.
func paths(p kube.ReleasePlan) []string {
	var all []string
	for _, d := range p.Diff {
		all = append(all, d.Path)
	}
	return all
}

// writeStatus writes the status of a Job, which a controller would do.
func writeStatus(t *testing.T, fleet *kubefake.Fleet, ref kube.Ref, status map[string]any) {
	t.Helper()
	client, err := dynamic.NewForConfig(fleet.Config("dp-1"))
	require.NoError(t, err)
	jobs := client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(ref.Namespace)
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		job, err := jobs.Get(t.Context(), ref.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		job.Object["status"] = status
		_, err = jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
		return err
	}))
}

// edit changes an object as somebody with kubectl would, however often its
// controller gets in between.
func edit(t *testing.T, cluster kube.Cluster, ref kube.Ref, change func(*unstructured.Unstructured)) {
	t.Helper()
	for {
		live, err := cluster.Objects.Get(t.Context(), ref)
		require.NoError(t, err)
		change(live)
		_, err = cluster.Objects.Update(t.Context(), live)
		if errors.Is(err, planewright.ErrConflict) {
			continue
		}
		require.NoError(t, err)
		return
	}
}

// adapter is a handle without what kubefake adds to it.
func adapter(t *testing.T, fleet *kubefake.Fleet) kube.Cluster {
	t.Helper()
	cluster, err := live.FromConfig("dp-1", fleet.Config("dp-1"))
	require.NoError(t, err)
	return cluster
}
