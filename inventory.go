package planewright

import "context"

// Inventory remembers what a stack's installs have made, so that what is no
// longer wanted can be found and taken away. It is a memory aid only: losing
// it loses pruning, nothing else, and every entry is confirmed by the
// object's own labels or tags before anything is deleted. Package kube has
// one that is a ConfigMap in a cluster.
type Inventory interface {
	// Load returns the entries; none if the inventory does not exist yet.
	Load(ctx context.Context) ([]InventoryEntry, error)
	// Save replaces the entries. Saving none deletes the inventory.
	Save(ctx context.Context, entries []InventoryEntry) error
}

// InventoryEntry is what one step made.
type InventoryEntry struct {
	// Step is the step's id.
	Step string `json:"step"`
	// Objects are what the step owns.
	Objects []Object `json:"objects"`
}
