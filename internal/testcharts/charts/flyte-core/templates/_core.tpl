{{/* Pieces that the templates share. */}}
{{- define "core.ns" -}}{{ .Values.forceNamespace | default .Release.Namespace | trunc 63 | trimSuffix "-" }}{{- end -}}

{{/* The name of the chart's own objects. */}}
{{- define "core.name" -}}{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}{{- end -}}

{{/* Selector of a component: call with (list root name). */}}
{{- define "core.selector" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end -}}

{{- define "core.labels" -}}
{{- $root := index . 0 -}}
{{ include "core.selector" . }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- end -}}

{{/* Metadata with labels: call with (list root objectName componentName). */}}
{{- define "core.meta" -}}
metadata:
  name: {{ index . 1 }}
  namespace: {{ include "core.ns" (index . 0) }}
  labels: {{- include "core.labels" (list (index . 0) (index . 2)) | nindent 4 }}
{{- end -}}

{{/* A value as a template, under a key: call with (list root key value indent). */}}
{{- define "core.tpl" -}}
{{- $root := index . 0 -}}{{- $key := index . 1 -}}{{- $indent := int (index . 3) -}}
{{- with index . 2 }}{{ printf "%s:" $key | nindent $indent }}{{ tpl (toYaml .) $root | nindent (int (add $indent 2)) }}{{ end -}}
{{- end -}}

{{/* The items of a list, rendered as templates: call with (list root value indent). */}}
{{- define "core.items" -}}
{{- $root := index . 0 -}}{{- $indent := int (index . 2) -}}
{{- with index . 1 }}{{ tpl (toYaml .) $root | nindent $indent }}{{ end -}}
{{- end -}}

{{/* A file of a ConfigMap: call with (list root name value templated). */}}
{{- define "core.file" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $templated := index . 3 -}}
{{- with index . 2 }}
  {{ $name }}: |
{{- if $templated }}{{ tpl (toYaml .) $root | nindent 4 }}{{ else }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Where pods run: call with (list root component). */}}
{{- define "core.placement" -}}
{{- $root := index . 0 -}}{{- $c := index . 1 -}}
{{- include "core.tpl" (list $root "nodeSelector" $c.nodeSelector 6) }}
{{- include "core.tpl" (list $root "affinity" $c.affinity 6) }}
{{- include "core.tpl" (list $root "tolerations" $c.tolerations 6) }}
{{- end -}}

{{/* The first lines of a Deployment's spec: call with (list root name component). */}}
{{- define "core.deployment" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $c := index . 2 -}}
apiVersion: apps/v1
kind: Deployment
{{ include "core.meta" (list $root $name $name) }}
  {{- with $c.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The head of a pod template: call with (list root name component checksummed). */}}
{{- define "core.pod" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $c := index . 2 }}
  selector:
    matchLabels: {{- include "core.selector" (list $root $name) | nindent 6 }}
  {{- include "core.tpl" (list $root "strategy" $c.strategy 2) }}
  template:
    metadata:
      annotations:
        configChecksum: {{ include (print $root.Template.BasePath (index . 3)) $root | sha256sum | trunc 63 | quote }}
        {{- with $c.podAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
      labels:
        {{- include "core.labels" (list $root $name) | nindent 8 }}
        {{- with $c.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      {{- include "core.tpl" (list $root "securityContext" $c.securityContext 6) }}
      {{- with $c.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
{{- end -}}

{{- define "core.closed" -}}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "core.image" -}}
image: {{ printf "%s:%s" .repository .tag | quote }}
imagePullPolicy: {{ .pullPolicy }}
{{- end -}}

{{- define "core.dbVolume" -}}
{{- with .Values.common.databaseSecret.name }}
- name: {{ . }}
  secret: {secretName: {{ . }}}
{{- end }}
{{- end -}}

{{- define "core.dbMount" -}}
{{- with .Values.common.databaseSecret.name }}
- {name: {{ . }}, mountPath: /etc/db}
{{- end }}
{{- end -}}

{{/* A volume of ConfigMaps and the storage's Secret: call with (list root volume configMap…). */}}
{{- define "core.projected" -}}
{{- $root := index . 0 }}
- name: {{ index . 1 }}
  projected:
    sources:
      {{- range slice . 2 }}
      - configMap: {name: {{ . }}}
      {{- end }}
      {{- with $root.Values.storage.secretName }}
      - secret: {name: {{ . }}}
      {{- end }}
{{- end -}}

{{/* A ServiceAccount: call with (list root name values). */}}
{{- define "core.account" -}}
{{- $root := index . 0 -}}{{- $a := index . 2 -}}
{{- if $a.create }}
apiVersion: v1
kind: ServiceAccount
{{ include "core.meta" (list $root (index . 1) (index . 1)) }}
  {{- include "core.tpl" (list $root "annotations" $a.annotations 2) }}
{{- include "core.tpl" (list $root "imagePullSecrets" $a.imagePullSecrets 0) }}
{{- end }}
{{- end -}}

{{/* A binding of a role to the ServiceAccount of the same component: call with (list root name kind bindingSuffix). */}}
{{- define "core.binding" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $kind := index . 2 -}}
{{- $role := printf "%s-%s" (include "core.ns" $root) $name -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $role }}{{ index . 3 }}
  labels: {{- include "core.labels" (list $root $name) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ $role }}}
subjects:
  - {kind: ServiceAccount, name: {{ $name }}, namespace: {{ include "core.ns" $root }}}
{{- end -}}

{{/* Role or ClusterRole, by a scope: call with (list scope path). */}}
{{- define "core.role" -}}
{{- if not (has (index . 0) (list "cluster" "namespace")) }}
  {{- fail (printf "Invalid value for .Values.%s.rbacScope. Expected 'namespace' or 'cluster'." (index . 1)) }}
{{- end -}}
{{- ternary "Role" "ClusterRole" (eq (index . 0) "namespace") -}}
{{- end -}}

{{/* An autoscaler: call with (list root name component). */}}
{{- define "core.hpa" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $a := (index . 2).autoscaling }}
{{- if $a.enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
{{ include "core.meta" (list $root $name $name) }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $name }}}
  minReplicas: {{ $a.minReplicas }}
  maxReplicas: {{ $a.maxReplicas }}
  metrics: {{- toYaml $a.metrics | nindent 4 }}
{{- end }}
{{- end -}}

{{/* What Prometheus scrapes: call with (list root name component). */}}
{{- define "core.monitor" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $m := (index . 2).serviceMonitor -}}
{{- if $m.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ $name }}
  namespace: {{ include "core.ns" $root }}
  labels: {{- $m.labels | toYaml | nindent 4 }}
spec:
  endpoints:
    - {port: http-metrics, path: /metrics, interval: {{ $m.interval }}, scrapeTimeout: {{ $m.scrapeTimeout }}}
  namespaceSelector: {matchNames: [{{ include "core.ns" $root }}]}
  selector:
    matchLabels: {{- include "core.selector" (list $root $name) | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The storage's configuration. */}}
{{- define "core.storage" -}}
{{- $s := .Values.storage -}}
storage:
  {{- if eq .Values.storage.type "s3" }}
  type: s3
  container: {{ .Values.storage.bucketName | quote }}
  connection:
    auth-type: {{ $s.s3.authType }}
    region: {{ $s.s3.region }}
    {{- with $s.s3.endpoint }}
    endpoint: {{ . }}
    {{- end }}
    {{- if eq $s.s3.authType "accesskey" }}
    access-key: {{ $s.s3.accessKey }}
    secret-key: {{ $s.s3.secretKey }}
    {{- end }}
  {{- else if eq $s.type "gcs" }}
  type: stow
  container: {{ $s.bucketName | quote }}
  stow:
    kind: google
    config:
      json: ""
      project_id: {{ $s.gcs.projectId }}
      scopes: https://www.googleapis.com/auth/cloud-platform
  {{- else if eq $s.type "sandbox" }}
  type: minio
  container: {{ $s.bucketName | quote }}
  stow:
    kind: s3
    config: {access_key_id: minio, auth_type: accesskey, secret_key: miniostorage, disable_ssl: true, endpoint: "http://minio.{{ .Release.Namespace }}.svc.cluster.local:9000", region: us-east-1}
  signedUrl:
    stowConfigOverride: {endpoint: "http://minio.{{ .Release.Namespace }}.svc.cluster.local:9000"}
  {{- else if eq $s.type "custom" }}
  {{- include "core.items" (list . $s.custom 2) }}
  {{- end }}
  enable-multicontainer: {{ $s.enableMultiContainer }}
  limits: {maxDownloadMBs: {{ $s.limits.maxDownloadMBs }}}
  cache: {max_size_mbs: {{ $s.cache.maxSizeMBs }}, target_gc_percent: {{ $s.cache.targetGCPercent }}}
{{- end -}}

{{- define "core.storageFile" -}}
{{- if not .Values.storage.secretName }}
  storage.yaml: |
{{- tpl (include "core.storage" .) . | nindent 4 }}
{{- end }}
{{- end -}}

{{/* The client's secret, where pods talk to flyteadmin. */}}
{{- define "core.authMount" -}}
{{- if .Values.secrets.adminOauthClientCredentials.enabled }}
- {name: auth, mountPath: /etc/secrets/}
{{- end }}
{{- end -}}

{{- define "core.authVolume" -}}
{{- if .Values.secrets.adminOauthClientCredentials.enabled }}
- name: auth
  secret: {secretName: {{ .Values.secrets.adminOauthClientCredentials.secretName }}}
{{- end }}
{{- end -}}
