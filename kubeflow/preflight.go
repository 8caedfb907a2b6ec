package kubeflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// probes are the questions that are asked before anything is planned.
func (b binding) probes() []planewright.Probe {
	type ask = func(context.Context, *planewright.Run) ([]planewright.Finding, error)
	var probes []planewright.Probe
	add := func(name, cluster string, run ask) {
		probes = append(probes, planewright.Probe{ID: b.step("preflight", name), Cluster: cluster, Run: func(ctx context.Context, r *planewright.Run) ([]planewright.Finding, error) {
			findings, err := run(ctx, r)
			if errors.Is(err, planewright.ErrDenied) {
				return append(findings, planewright.Finding{Severity: planewright.SeverityUnprobed, Code: CodeDenied, Cause: name + " may not be looked at: " + err.Error()}), nil
			}
			return findings, err
		}})
	}
	workload := b.workload.Name
	add("olm", workload, b.probeOLM)
	add("platform", workload, b.probePlatform)
	add("kserve", workload, b.probeKServe)
	add("mesh", workload, b.probeMesh)
	add("old-plugins", b.global.Name, b.probeOldPlugins)
	add("nodes", workload, b.probeNodes)
	add("version", workload, b.probeVersion)
	add("storage", workload, b.probeStorage)
	add("permissions", workload, b.probePermissions)
	if b.pipelines != nil {
		add("other-pipelines", workload, b.probeOtherPipelines)
	}
	if b.trainer != nil {
		add("leaderworkerset", workload, b.probeLeaderWorkerSet)
		add("jobset", workload, b.probeJobSet)
		add("kueue", workload, b.probeKueue)
	}
	return probes
}

func (b binding) probeOLM(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	var kinds []schema.GroupVersionKind
	for _, kind := range []string{"Subscription", "InstallPlan", "ClusterServiceVersion"} {
		kinds = append(kinds, schema.FromAPIVersionAndKind(operatorsV1alpha1, kind))
	}
	kinds = append(kinds, schema.FromAPIVersionAndKind(operatorsV1, "OperatorGroup"), schema.FromAPIVersionAndKind(packagesV1, "PackageManifest"))
	served, err := b.workload.Facts.Serves(ctx, kinds...)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, kind := range kinds {
		if !served[kind] {
			missing = append(missing, kind.Kind+" of "+kind.GroupVersion().String())
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeNoOLM,
		Cause: fmt.Sprintf("cluster %s does not serve %s", b.workload.Name, strings.Join(missing, ", ")),
		Fix:   "install the Operator Lifecycle Manager, or give the right workload cluster"}}, nil
}

// definition is what of a CustomResourceDefinition says where its objects are.
type definition struct {
	apiVersion, kind, name string
}

// definitions finds the definitions whose kind, in lower case, is the given one, in whatever group.
func definitions(ctx context.Context, cluster kube.Cluster, kind string) ([]definition, error) {
	list, err := cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"})
	if err != nil {
		return nil, err
	}
	var found []definition
	for _, crd := range list {
		if d := readDefinition(crd); strings.ToLower(d.kind) == kind {
			found = append(found, d)
		}
	}
	return found, nil
}

func readDefinition(crd *unstructured.Unstructured) definition {
	d := definition{kind: textAt(crd.Object, "spec", "names", "kind"), name: crd.GetName()}
	for _, v := range mapsAt(crd.Object, "spec", "versions") {
		if served, _ := v["served"].(bool); served {
			d.apiVersion = textAt(crd.Object, "spec", "group") + "/" + textAt(v, "name")
			break
		}
	}
	return d
}

// objectsOf lists the objects of a kind, in whatever group it is.
func objectsOf(ctx context.Context, cluster kube.Cluster, kind, labels string) ([]*unstructured.Unstructured, error) {
	kinds, err := definitions(ctx, cluster, kind)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, d := range kinds {
		list, err := cluster.Objects.List(ctx, kube.ListRequest{APIVersion: d.apiVersion, Kind: d.kind, Labels: labels})
		if err != nil && !errors.Is(err, planewright.ErrNotFound) {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// minimumPlatform is the first version of Alauda AI whose operators are installed by OLM.
const minimumPlatform = "2.3.0"

// platformCluster is the object of Alauda AI in a cluster.
func (b binding) platformCluster(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := b.workload.Objects.Get(ctx, kube.Ref{APIVersion: "amlclusters.aml.dev/v1alpha1", Kind: "AmlCluster", Name: "default"})
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return live, nil
}

func (b binding) probePlatform(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	var findings []planewright.Finding
	live, err := b.platformCluster(ctx)
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodePlatform,
			Cause: "cluster " + b.workload.Name + " has no Alauda AI: AmlCluster default does not exist", Fix: "install Alauda AI " + minimumPlatform + " or newer"})
	case !isTrue(live, "Ready"):
		object := kube.RefOf(live).In(b.workload.Name)
		_, reason, message := condition(live, "Ready")
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodePlatform, Object: &object,
			Cause: strings.TrimSpace("Alauda AI is not ready: " + reason + " " + message), Fix: "wait until it is, or mend it"})
	}
	elsewhere, err := b.probePlatformOf(ctx)
	if err != nil {
		return findings, err
	}
	findings = append(findings, elsewhere...)
	csvs, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: operatorsV1alpha1, Kind: "ClusterServiceVersion", Namespace: "aml-operator"})
	if err != nil {
		return findings, ignoreMissing(err)
	}
	for _, csv := range csvs {
		have := textAt(csv.Object, "spec", "version")
		if strings.HasPrefix(csv.GetName(), "aml-operator.") && newerThan(minimumPlatform, have) {
			object := kube.RefOf(csv).In(b.workload.Name)
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodePlatform, Object: &object,
				Cause: fmt.Sprintf("Alauda AI is %s; Kubeflow's operators need %s", have, minimumPlatform), Fix: "upgrade Alauda AI first"})
		}
	}
	return findings, nil
}

// probePlatformOf compares the platform that the workload cluster says it belongs to with the global cluster's.
func (b binding) probePlatformOf(ctx context.Context) ([]planewright.Finding, error) {
	info, err := b.workload.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "kube-public", Name: "global-info"})
	if err != nil {
		return nil, ignoreMissing(err)
	}
	base, err := b.global.Objects.Get(ctx, productBase())
	if err != nil {
		return nil, ignoreMissing(err)
	}
	of, have := textAt(info.Object, "data", "platformURL"), textAt(base.Object, "spec", "platformURL")
	if of == "" || have == "" || sameURL(of, have) {
		return nil, nil
	}
	object := kube.RefOf(info).In(b.workload.Name)
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodePlatform, Object: &object,
		Cause: fmt.Sprintf("cluster %s says that it belongs to the platform %s, and the one in cluster %s is %s", b.workload.Name, of, b.global.Name, have),
		Fix:   "see whether the two clusters are of one platform: the login's certificate is taken from the global one"}}, nil
}

func (b binding) probeKServe(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	list, err := objectsOf(ctx, b.workload, "kserve", "")
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.GetName() != "default-kserve" {
			continue
		}
		if isTrue(k, "Deployed") {
			return nil, nil
		}
		object := kube.RefOf(k).In(b.workload.Name)
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeKServe, Object: &object, Cause: "KServe is not deployed", Fix: "wait until it is, or mend it"}}, nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeKServe,
		Cause: "cluster " + b.workload.Name + " has no KServe: kserve default-kserve does not exist", Fix: "install KServe in Alauda AI"}}, nil
}

// probeOldPlugins looks for the cluster plugins of older releases. There is no way from them in place.
func (b binding) probeOldPlugins(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	list, err := objectsOf(ctx, b.global, "moduleinfo", "cpaas.io/cluster-name="+b.workload.Name)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	for _, m := range list {
		name := m.GetLabels()["cpaas.io/module-name"]
		object := kube.RefOf(m).In(b.global.Name)
		finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeOldPlugin, Object: &object,
			Cause: "the cluster plugin " + name + " is installed; the operators cannot take over from it"}
		switch name {
		case "kfbase", "kfp":
			finding.Fix = "back up the pipelines' database and object store, and list profiles and their people (kubectl get profiles,rolebindings -A -o yaml); uninstall the plugins in the platform, kfp before kfbase; then install"
		case "kftraining", "kubeflow-trainer":
			if b.trainer == nil {
				continue
			}
			finding.Fix = "let the training jobs end and back up what describes them (kubectl get pytorchjobs,tfjobs -A -o yaml); uninstall the plugin in the platform; then install"
		default:
			continue
		}
		findings = append(findings, finding)
	}
	return findings, nil
}

func (b binding) probeOtherPipelines(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	kinds, err := definitions(ctx, b.workload, "datasciencepipelinesapplication")
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeOtherPipelines,
		Cause: "the Data Science Pipelines operator is in this cluster (" + kinds[0].name + "); it and the Kubeflow Pipelines operator exclude each other",
		Fix:   "uninstall it and delete its definition, or leave out WithPipelines"}}, nil
}
