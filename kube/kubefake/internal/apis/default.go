package apis

import "k8s.io/apimachinery/pkg/runtime"

// Default sets the defaults of the kinds that have some.
func Default(obj runtime.Object) {}
