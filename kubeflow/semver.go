package kubeflow

import utilversion "k8s.io/apimachinery/pkg/util/version"

// newerThan compares versions by the rules of semantic versioning. What is no
// version is not newer than anything.
func newerThan(a, b string) bool {
	va, errA := utilversion.ParseSemantic(a)
	vb, errB := utilversion.ParseSemantic(b)
	return errA == nil && errB == nil && vb.LessThan(va)
}
