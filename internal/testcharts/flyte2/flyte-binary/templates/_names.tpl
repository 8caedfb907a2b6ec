{{/* Names and labels as the published chart makes them. */}}
{{- define "flyte.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "flyte.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $made := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $made | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "flyte.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "flyte.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "flyte.selector" -}}
app.kubernetes.io/name: {{ include "flyte.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "flyte.component" -}}
{{ include "flyte.selector" . }}
app.kubernetes.io/component: flyte-binary
{{- end -}}

{{/* Renders a value as a template, at some indent, if there is one: call with (list root value indent). */}}
{{- define "flyte.tpl" -}}
{{- $root := index . 0 -}}
{{- with index . 1 }}{{ tpl (toYaml .) $root | nindent (int (index $ 2)) }}{{ end -}}
{{- end -}}

{{/* The metadata of an object: call with (list root suffix labels annotations), the last two being lists of values. */}}
{{- define "flyte.metadata" -}}
{{- $root := index . 0 -}}
metadata:
  name: {{ include "flyte.fullname" $root }}{{ index . 1 }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels:
    helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
    {{- include "flyte.selector" $root | nindent 4 }}
    app.kubernetes.io/managed-by: {{ $root.Release.Service }}
    {{- include "flyte.tpl" (list $root $root.Values.commonLabels 4) }}
    {{- range index . 2 }}{{ include "flyte.tpl" (list $root . 4) }}{{ end }}
  annotations:
    {{- include "flyte.tpl" (list $root $root.Values.commonAnnotations 4) }}
    {{- range index . 3 }}{{ include "flyte.tpl" (list $root . 4) }}{{ end }}
{{- end -}}

{{- define "flyte.external" -}}
{{- or .Values.configuration.externalConfigMap .Values.configuration.externalSecretRef -}}
{{- end -}}

