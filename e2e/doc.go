// Package e2e holds the tests that need a real control plane: the contract
// suite of package kube, and every example, on API servers that
// internal/kubestack builds and starts.
//
// The module stands apart so that users of the library never see what these
// tests need. With PLANEWRIGHT_CHARTS naming a folder of published chart
// archives the examples are also installed with those; without it the small
// charts of our own are, and the log says so.
package e2e
