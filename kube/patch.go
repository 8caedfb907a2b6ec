package kube

import (
	"encoding/json"
	"slices"
)

// Patch is a JSON patch (RFC 6902): operations that are carried out in order, all
// of them or none. It is a value: its methods return changed copies. Paths are
// JSON pointers: "/spec/approved".
//
//	kube.Patch{}.
//		WithTest("/spec/generation", 3).
//		WithReplaced("/spec/approved", true)
type Patch struct{ operations []PatchOperation }

// PatchOperation is one operation of a [Patch].
type PatchOperation struct {
	// Op is test, add, replace or remove.
	Op string
	// Path is a JSON pointer.
	Path string
	// Value is what is tested or set; nil stands for null.
	Value any
}

// MarshalJSON writes the operation as RFC 6902 has it.
func (o PatchOperation) MarshalJSON() ([]byte, error) {
	operation := map[string]any{"op": o.Op, "path": o.Path}
	if o.Op != "remove" {
		operation["value"] = o.Value
	}
	return json.Marshal(operation)
}

// Operations returns the operations in order.
func (p Patch) Operations() []PatchOperation { return slices.Clone(p.operations) }

// WithTest has the whole patch fail unless the field has this value.
func (p Patch) WithTest(path string, value any) Patch { return p.with("test", path, value) }

// WithReplaced gives a field another value. API servers take it for a field
// that is not there, too; test for it first where that matters.
func (p Patch) WithReplaced(path string, value any) Patch { return p.with("replace", path, value) }

// WithAdded makes a field, or replaces it. A path that ends in "/-" appends to a list.
func (p Patch) WithAdded(path string, value any) Patch { return p.with("add", path, value) }

// WithRemoved takes away a field that exists.
func (p Patch) WithRemoved(path string) Patch { return p.with("remove", path, nil) }

func (p Patch) with(op, path string, value any) Patch {
	p.operations = append(slices.Clip(p.operations), PatchOperation{Op: op, Path: path, Value: value})
	return p
}
