// Package containertest is the contract of package container's ports: what
// every container engine keeps, the real ones and the one in memory.
//
//	containertest.Run(t, func(t *testing.T) containertest.Fixture { … })
package containertest
