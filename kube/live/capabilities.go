package live

import (
	"context"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderVersion is the Kubernetes version that charts see when they are rendered
// without a cluster.
const renderVersion = "1.37"

// capabilities is what charts see of the cluster: its version and what it serves,
// with what the definitions that the chart brings will add.
func (r *releases) capabilities(ctx context.Context, crds []*unstructured.Unstructured) (*chartutil.Capabilities, error) {
	version, err := r.c.apis.knownVersion(ctx)
	if err != nil {
		return nil, err
	}
	served, err := r.c.apis.served(ctx)
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, g := range served.groups {
		for _, v := range g.Versions {
			set[v.GroupVersion] = true
		}
	}
	for _, list := range served.resources {
		for _, r := range list.APIResources {
			set[list.GroupVersion+"/"+r.Kind] = true
		}
	}
	for _, d := range kinds(crds) {
		for _, v := range d.versions {
			set[d.group+"/"+v] = true
			set[d.group+"/"+v+"/"+d.kind] = true
		}
	}
	versions := make(chartutil.VersionSet, 0, len(set))
	for v := range set {
		versions = append(versions, v)
	}
	slices.Sort(versions)
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		APIVersions: versions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// offlineCapabilities is what charts see without a cluster: Kubernetes and
// nothing else.
func offlineCapabilities() *chartutil.Capabilities {
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: "v" + renderVersion + ".0", Major: "1", Minor: "37"}
	return caps
}
