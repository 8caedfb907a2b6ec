// Package controller simulates the controllers that an install waits for:
// workloads become pods, pods find nodes and become ready, namespaces and
// custom kinds come up and go away, tokens appear.
//
// Everything happens in timers of package time while the server is locked, so
// there are no goroutines to wait for, and virtual time works.
package controller
