package kube

// Values are a chart's values: maps, lists and scalars as YAML holds them.
type Values map[string]any
