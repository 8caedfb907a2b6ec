package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unkeptSteps are those of what an uninstall is to delete all the same. They do
// nothing when installing; the components' steps need them, so that an uninstall
// comes to them last.
func (b binding) unkeptSteps() []planewright.Step {
	nothing := func(context.Context, *planewright.Run) (planewright.Change, error) { return planewright.Change{}, nil }
	var steps []planewright.Step
	if len(b.unkept.definitions) > 0 {
		steps = append(steps, planewright.Step{
			ID:        b.step("definitions"),
			Title:     "definitions that an uninstall deletes: " + strings.Join(b.unkept.definitions, ", "),
			Cluster:   b.workload.Name,
			Check:     nothing,
			CheckUndo: b.mayDeleteDefinitions,
			Undo:      b.deleteDefinitions,
		})
	}
	if len(b.unkept.claims) > 0 {
		steps = append(steps, planewright.Step{
			ID:      b.step("volumes"),
			Title:   "volumes that an uninstall deletes: " + strings.Join(b.unkept.claims, ", "),
			Cluster: b.workload.Name,
			Check:   nothing,
			Undo:    b.deleteClaims,
		})
	}
	return steps
}

// keepDefinition tells that a definition stays, unless it is to be deleted.
func (b binding) keepDefinition(run *planewright.Run, name string) {
	if !slices.Contains(b.unkept.definitions, name) {
		run.Keep(definitionRef(name).In(b.workload.Name), "definitions stay: deleting one deletes all objects of its kind")
	}
}

// goes reports whether an uninstall of the stack deletes an object.
func (b binding) goes(obj *unstructured.Unstructured) bool {
	return b.owns(obj.GetLabels()) && (obj.GetKind() != "Profile" || slices.Contains(b.unkept.profiles, obj.GetName()))
}

// instancesOf lists the objects of a definition; it is empty if there is no such definition.
func (b binding) instancesOf(ctx context.Context, name string) ([]*unstructured.Unstructured, error) {
	crd, err := b.workload.Objects.Get(ctx, definitionRef(name))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	d := readDefinition(crd)
	list, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: d.apiVersion, Kind: d.kind})
	return list, ignoreMissing(err)
}

func refsOf(list []*unstructured.Unstructured) string {
	var names []string
	for _, obj := range list {
		names = append(names, kube.RefOf(obj).String())
	}
	return strings.Join(names, ", ")
}

// mayDeleteDefinitions finds objects that would go with their definition, and that nobody said should.
func (b binding) mayDeleteDefinitions(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	var findings []planewright.Finding
	for _, name := range b.unkept.definitions {
		list, err := b.instancesOf(ctx, name)
		if err != nil {
			return nil, err
		}
		if left := slices.DeleteFunc(list, b.goes); len(left) > 0 {
			object := definitionRef(name).In(b.workload.Name)
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeInUse, Object: &object,
				Cause: "with it would go " + refsOf(left), Fix: "delete them first, or leave the definition out of WithDefinitionsDeleted"})
		}
	}
	return findings, nil
}

func (b binding) deleteDefinitions(ctx context.Context, run *planewright.Run) error {
	for _, name := range b.unkept.definitions {
		list, err := b.instancesOf(ctx, name)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return fmt.Errorf("%s stays: with it would go %s; delete them first: %w", definitionRef(name), refsOf(list), planewright.ErrBlocked)
		}
		if err := b.deleteIfThere(ctx, run, definitionRef(name)); err != nil {
			return err
		}
	}
	return nil
}

func (b binding) deleteClaims(ctx context.Context, run *planewright.Run) error {
	for _, claim := range b.unkept.claims {
		namespace, name, _ := strings.Cut(claim, "/")
		if err := b.deleteIfThere(ctx, run, kube.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

// deleteIfThere deletes an object of the workload cluster that the user has named, and waits until it is gone.
func (b binding) deleteIfThere(ctx context.Context, run *planewright.Run, ref kube.Ref) error {
	live, err := b.workload.Objects.Get(ctx, ref)
	if err != nil {
		return ignoreMissing(err)
	}
	return deleteAndWait(ctx, run, b.workload, live)
}
