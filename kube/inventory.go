package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// inventoryKey is the key of the ConfigMap that holds the inventory.
	inventoryKey = "inventory.json"
	// inventoryVersion is the form that is written.
	inventoryVersion = 1
)

// inventoryFile is the content of the key inventory.json:
//
//	{"version": 1, "entries": [{"step": "flyte/ml/namespace", "objects": [
//	  {"cluster": "main", "apiVersion": "v1", "kind": "Namespace", "name": "flyte"}]}]}
type inventoryFile struct {
	Version int                          `json:"version"`
	Entries []planewright.InventoryEntry `json:"entries"`
}

// NewInventory makes an inventory of a ConfigMap in a cluster, labelled
// app.kubernetes.io/managed-by: planewright. Its key inventory.json holds the
// entries as JSON, with a version. Nothing in it is secret. It needs the
// namespace when entries are saved; without it there are none.
//
// A ConfigMap of that name without the label is ErrConflict, one that is not
// understood ErrInvalid, one of a newer version of this module ErrUnsupported.
func NewInventory(cluster Cluster, namespace, name string) planewright.Inventory {
	return inventory{objects: cluster.Objects, cluster: cluster.Name,
		ref: Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}}
}

type inventory struct {
	objects Objects
	cluster string
	ref     Ref
}

// get reads the ConfigMap, nil if it does not exist.
func (i inventory) get(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := i.objects.Get(ctx, i.ref)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if live.GetLabels()[managedByLabel] != FieldManager {
		return nil, fmt.Errorf("%s is not an inventory: it lacks the label %s=%s; rename or delete it: %w",
			i.ref.In(i.cluster), managedByLabel, FieldManager, planewright.ErrConflict)
	}
	return live, nil
}

// Load implements [planewright.Inventory].
func (i inventory) Load(ctx context.Context) ([]planewright.InventoryEntry, error) {
	live, err := i.get(ctx)
	if live == nil {
		return nil, err
	}
	text, _, _ := unstructured.NestedString(live.Object, "data", inventoryKey)
	var file inventoryFile
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, fmt.Errorf("%s: its key %s cannot be read (%w); delete it, which loses nothing but what is to be pruned: %w",
			i.ref.In(i.cluster), inventoryKey, err, planewright.ErrInvalid)
	}
	if file.Version != inventoryVersion {
		return nil, fmt.Errorf("%s: its key %s has version %d, and this program reads version %d; use a newer one: %w",
			i.ref.In(i.cluster), inventoryKey, file.Version, inventoryVersion, planewright.ErrUnsupported)
	}
	return file.Entries, nil
}

// Save implements [planewright.Inventory].
func (i inventory) Save(ctx context.Context, entries []planewright.InventoryEntry) error {
	live, err := i.get(ctx)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if live == nil {
			return nil
		}
		return i.objects.Delete(ctx, i.ref, DeleteOptions{UID: string(live.GetUID())})
	}
	text, err := json.MarshalIndent(inventoryFile{Version: inventoryVersion, Entries: entries}, "", "  ")
	if err != nil {
		return err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": i.ref.APIVersion,
		"kind":       i.ref.Kind,
		"metadata": map[string]any{
			"name": i.ref.Name, "namespace": i.ref.Namespace,
			"labels": map[string]any{managedByLabel: FieldManager},
		},
		"data": map[string]any{inventoryKey: string(text)},
	}}
	// The ConfigMap is ours, by its label: whoever wrote the key since is overruled.
	_, err = i.objects.Apply(ctx, obj, ApplyOptions{Force: true})
	return err
}
