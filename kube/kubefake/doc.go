// Package kubefake holds a fleet of Kubernetes clusters in memory.
package kubefake
