package kubestack

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// defaultNodes is what a chart with a replica on each of two nodes needs to be
// upgraded: the third node takes the new pod before an old one goes.
const defaultNodes = 3

// Config says what [Start] starts. Only Clusters is required.
type Config struct {
	// Clusters are the clusters to start, at least one.
	Clusters []Cluster

	// Binaries are the executables to start. The default is what [Build] returns
	// for its default options, built now if that has not happened yet.
	Binaries Binaries

	// Dir is the folder in which the stack makes a folder of its own, for etcd's
	// data, certificates, kubeconfigs and logs. The default is the system's folder for
	// temporary files. The path must be short: a Unix socket is made below it.
	Dir string

	// LogDir is the folder for the processes' logs, one file each, which then outlive
	// the stack. The default is within the stack's folder.
	LogDir string

	// Log receives what is going on, a line at a time. The default is silence.
	Log io.Writer
}

// Cluster describes one cluster. Only Name is required.
type Cluster struct {
	// Name is the name of the cluster and of its kubeconfig context: lower case
	// letters, digits and hyphens.
	Name string

	// Nodes is the number of fake nodes. The default is three.
	Nodes int

	// NodeArch is the processor architecture that the nodes report. The default is amd64.
	NodeArch string

	// APIServerFlags are added to the API server's flags, after those that the
	// package sets, such as --authentication-token-webhook-config-file.
	APIServerFlags []string
}

// Named returns clusters with these names and all defaults.
func Named(names ...string) []Cluster {
	clusters := make([]Cluster, len(names))
	for i, name := range names {
		clusters[i] = Cluster{Name: name}
	}
	return clusters
}

// validate returns every mistake in the configuration.
func (c Config) validate() error {
	var errs []error
	if len(c.Clusters) == 0 {
		errs = append(errs, errors.New("clusters: at least one is needed"))
	}
	seen := map[string]bool{}
	for i, cluster := range c.Clusters {
		if problems := validation.IsDNS1123Label(cluster.Name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("clusters[%d].name %q: %s", i, cluster.Name, strings.Join(problems, "; ")))
		}
		if seen[cluster.Name] {
			errs = append(errs, fmt.Errorf("clusters[%d].name %q: another cluster has the same name", i, cluster.Name))
		}
		seen[cluster.Name] = true
		if cluster.Nodes < 0 {
			errs = append(errs, fmt.Errorf("clusters[%d].nodes %d: must not be negative", i, cluster.Nodes))
		}
	}
	return errors.Join(errs...)
}

// withDefaults returns the cluster with its defaults filled in.
func (c Cluster) withDefaults() Cluster {
	if c.Nodes == 0 {
		c.Nodes = defaultNodes
	}
	if c.NodeArch == "" {
		c.NodeArch = "amd64"
	}
	return c
}
