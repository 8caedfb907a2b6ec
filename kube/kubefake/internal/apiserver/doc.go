// Package apiserver is one Kubernetes API server in memory: it parses
// requests, keeps objects with their versions, merges what clients apply,
// and feeds watches. It starts no goroutines and has no controllers; package
// controller brings those in by way of [Server.OnChange].
package apiserver
