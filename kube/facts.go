package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Facts tells what a cluster is. Errors are as those of [Objects].
type Facts interface {
	// Version returns the API server's version.
	Version(ctx context.Context) (Version, error)
	// Nodes returns the nodes, sorted by name.
	Nodes(ctx context.Context) ([]Node, error)
	// StorageClasses returns the storage classes, sorted by name.
	StorageClasses(ctx context.Context) ([]StorageClass, error)
	// Serves tells for each kind whether the API server serves it.
	Serves(ctx context.Context, kinds ...schema.GroupVersionKind) (map[schema.GroupVersionKind]bool, error)
	// Denied returns those of the accesses that the own credentials do not have.
	Denied(ctx context.Context, accesses ...Access) ([]Access, error)
	// Endpoint returns the URL and the certificate authority (PEM, may be
	// empty) by which this handle reaches the API server.
	Endpoint(ctx context.Context) (Endpoint, error)
}

// Version is an API server's version.
type Version struct {
	// Git is the whole version: "v1.37.2".
	Git string
	// Major and Minor are its first two numbers.
	Major, Minor int
}

// Node is one node.
type Node struct {
	Name string
	// Architecture and OS are as Go spells them: "arm64", "linux".
	Architecture, OS string
	Ready            bool
	// Schedulable is false for a node that is cordoned.
	Schedulable bool
	Labels      map[string]string
}

// StorageClass is one storage class.
type StorageClass struct {
	Name, Provisioner string
	Default           bool
}

// Access is one thing that credentials may or may not do.
type Access struct {
	// Verb is "get", "create" and so on, or "*".
	Verb string
	// Group is empty for the core group; Resource is the plural: "secrets".
	Group, Resource string
	// Namespace is empty for the whole cluster.
	Namespace string
}

// String prints the access as a person would say it.
func (a Access) String() string {
	s := a.Verb + " " + a.Resource
	if a.Group != "" {
		s += "." + a.Group
	}
	if a.Namespace != "" {
		return s + " in namespace " + a.Namespace
	}
	return s + " in all namespaces"
}

// Endpoint is how an API server is reached.
type Endpoint struct {
	URL string
	CA  []byte
}
