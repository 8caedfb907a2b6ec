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
{{- include "core.tpl" (list (index . 0) "nodeSelector" (index . 1).nodeSelector 0) }}
{{- include "core.tpl" (list (index . 0) "affinity" (index . 1).affinity 0) }}
{{- include "core.tpl" (list (index . 0) "tolerations" (index . 1).tolerations 0) }}
{{- end -}}

{{/* What Prometheus finds a pod by: call with (list port enabled). */}}
{{- define "core.scraped" -}}
prometheus.io/path: /metrics
prometheus.io/port: {{ index . 0 | quote }}
{{- if index . 1 }}
prometheus.io/scrape: "true"
{{- end }}
{{- end -}}

{{/* A Deployment up to the spec of its pod: call with (list root name component replicas configFile [port enabled]). No replicas are set where they are a bool. */}}
{{- define "core.deployment" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $c := index . 2 -}}
apiVersion: apps/v1
kind: Deployment
{{ include "core.meta" (list $root (ternary "syncresources" $name (eq $name "flyteclusterresourcesync")) $name) }}
  {{- with $c.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if not (kindIs "bool" (index . 3)) }}
  replicas: {{ index . 3 }}
  {{- end }}
  selector:
    matchLabels: {{- include "core.selector" (list $root $name) | nindent 6 }}
  {{- include "core.tpl" (list $root "strategy" $c.strategy 2) }}
  template:
    metadata:
      annotations:
        configChecksum: {{ include "core.checksum" (list $root (index . 4)) }}
        {{- with $c.podAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
        {{- with slice . 5 }}{{ include "core.scraped" . | nindent 8 }}{{ end }}
      labels:
        {{- include "core.labels" (list $root $name) | nindent 8 }}
        {{- with $c.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      {{- include "core.pod" (list $root $c) | indent 6 }}
{{- end -}}

{{/* How a pod runs: call with (list root component). */}}
{{- define "core.pod" -}}
{{- include "core.tpl" (list (index . 0) "securityContext" (index . 1).securityContext 0) }}
{{- with (index . 1).priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "core.checksum" -}}
{{ include (print (index . 0).Template.BasePath (index . 1)) (index . 0) | sha256sum | trunc 63 | quote }}
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
  selector:
    matchLabels: {{- include "core.selector" (list $root $name) | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The storage's configuration. */}}
{{- define "core.storage" -}}
storage:
  {{- if eq .Values.storage.type "s3" }}
  type: s3
  container: {{ .Values.storage.bucketName | quote }}
  connection:
    auth-type: {{ .Values.storage.s3.authType }}
    region: {{ .Values.storage.s3.region }}
    {{- with .Values.storage.s3.endpoint }}
    endpoint: {{ . }}
    {{- end }}
    {{- if eq .Values.storage.s3.authType "accesskey" }}
    access-key: {{ .Values.storage.s3.accessKey }}
    secret-key: {{ .Values.storage.s3.secretKey }}
    {{- end }}
  {{- else if eq .Values.storage.type "gcs" }}
  type: stow
  container: {{ .Values.storage.bucketName | quote }}
  stow:
    kind: google
    config:
      json: ""
      project_id: {{ .Values.storage.gcs.projectId }}
      scopes: https://www.googleapis.com/auth/cloud-platform
  {{- else if eq .Values.storage.type "sandbox" }}
  type: minio
  container: {{ .Values.storage.bucketName | quote }}
  stow:
    kind: s3
    config: {access_key_id: minio, auth_type: accesskey, secret_key: miniostorage, disable_ssl: true, endpoint: "http://minio.{{ .Release.Namespace }}.svc.cluster.local:9000", region: us-east-1}
  signedUrl:
    stowConfigOverride: {endpoint: "http://minio.{{ .Release.Namespace }}.svc.cluster.local:9000"}
  {{- else if eq .Values.storage.type "custom" }}
  {{- include "core.items" (list . .Values.storage.custom 2) }}
  {{- end }}
  enable-multicontainer: {{ .Values.storage.enableMultiContainer }}
  limits: {maxDownloadMBs: {{ .Values.storage.limits.maxDownloadMBs }}}
  cache: {max_size_mbs: {{ .Values.storage.cache.maxSizeMBs }}, target_gc_percent: {{ .Values.storage.cache.targetGCPercent }}}
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

{{/* Its volume: call with (list root secretName). */}}
{{- define "core.authVolume" -}}
{{- if (index . 0).Values.secrets.adminOauthClientCredentials.enabled }}
- name: auth
  secret: {secretName: {{ index . 1 }}}
{{- end }}
{{- end -}}
