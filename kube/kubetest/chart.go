package kubetest

import (
	"maps"
	"slices"

	"github.com/planewright/planewright/kube"
)

// newChart makes a chart named app of templates by file name, and other files.
func newChart(templates map[string]string, more ...kube.ChartFile) *kube.Chart {
	files := []kube.ChartFile{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: \"4.5\"\n")},
		{Name: "values.yaml", Data: []byte("size: small\npassword: \"\"\nextra: false\n")},
	}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		files = append(files, kube.ChartFile{Name: "templates/" + name, Data: []byte(templates[name])})
	}
	files = append(files, more...)
	return kube.NewChart("app", "1.2.3", "4.5", "", files)
}

// appTemplates are a workload with what usually belongs to one, written the
// way charts are: with fields that the API server writes differently.
func appTemplates() map[string]string {
	return map[string]string{
		"settings.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
data:
  size: {{ .Values.size | quote }}
`,
		"secret.yaml": `
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-secret
type: Opaque
stringData:
  password: {{ .Values.password | quote }}
`,
		"account.yaml": `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
  annotations:
`,
		"service.yaml": `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  type: ClusterIP
  selector: {app: {{ .Release.Name }}}
  ports: [{name: http, port: 80, targetPort: 8080}]
`,
		"deployment.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {checksum: {{ .Values.size | sha256sum | trunc 16 | quote }}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
      - name: main
        image: registry.example/app:1
        resources: {limits: {cpu: 1, memory: 1024Mi}}
        env:
        - {name: SIZE, value: {{ .Values.size | quote }}}
`,
		"extra.yaml": `
{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-extra
{{- end }}
`,
	}
}

// appChart is the chart of [appTemplates].
func appChart() *kube.Chart { return newChart(appTemplates()) }
