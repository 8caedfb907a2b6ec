package kubeflowtest

// Fault is a way in which the simulation fails.
type Fault string

// The faults. [World.Break] takes the name of a package with each of them, if
// nothing else is said.
const (
	// CatalogUnhealthy: the catalog does not answer, and nothing is resolved.
	CatalogUnhealthy Fault = "catalog-unhealthy"
	// ResolutionFailed: no set of versions fits.
	ResolutionFailed Fault = "resolution-failed"
	// OtherCatalogFailed: another catalog than the package's does not answer,
	// which keeps everything from being resolved.
	OtherCatalogFailed Fault = "other-catalog-failed"
	// OldPlan: an install plan that a catalog of before has left over, for a
	// version that it no longer has, waits for an approval, and no other plan is made.
	OldPlan Fault = "old-plan"
	// BundleUnpackFailed: the bundle's image cannot be pulled.
	BundleUnpackFailed Fault = "bundle-unpack-failed"
	// ForeignPlan: the install plan also upgrades another operator.
	ForeignPlan Fault = "foreign-plan"
	// PlanFailed: the approved plan fails.
	PlanFailed Fault = "plan-failed"
	// NoPlan: no install plan is made.
	NoPlan Fault = "no-plan"
	// RequirementsNotMet: the operator waits for a service account that never comes.
	RequirementsNotMet Fault = "requirements-not-met"
	// CSVFailed: the operator fails.
	CSVFailed Fault = "csv-failed"
	// NeverAvailable: the operator's Deployment does not become available.
	NeverAvailable Fault = "never-available"
	// ReleaseFailed: the operator cannot install its component.
	ReleaseFailed Fault = "release-failed"
)
