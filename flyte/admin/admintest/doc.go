// Package admintest is the contract that admin.Client and a flyteadmin keep
// together: it runs on flyteadmin itself and on adminfake alike.
//
//	func TestContract(t *testing.T) {
//		admintest.Run(t, func(t *testing.T) *admin.Client { … })
//	}
//
// It registers projects with ids that begin with "contract-"; flyteadmin has no
// call that deletes them, so they are archived in the end.
package admintest
