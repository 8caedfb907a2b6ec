package kubestack

// Program names one of the executables that [Build] makes.
type Program string

// The programs of a stack, and the two that people and tests use on it.
const (
	Etcd                  Program = "etcd"
	KubeAPIServer         Program = "kube-apiserver"
	KubeControllerManager Program = "kube-controller-manager"
	KubeScheduler         Program = "kube-scheduler"
	Kwok                  Program = "kwok"
	Kubectl               Program = "kubectl"
	Helm                  Program = "helm"
)

// Programs returns every program that [Build] makes.
func Programs() []Program {
	return []Program{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok, Kubectl, Helm}
}

// importPath returns the path of the main package that the program is built from.
func (p Program) importPath() string {
	switch p {
	case Etcd:
		return "go.etcd.io/etcd/server/v3"
	case Kwok:
		return "sigs.k8s.io/kwok/cmd/kwok"
	case Helm:
		return "helm.sh/helm/v3/cmd/helm"
	default:
		return "k8s.io/kubernetes/cmd/" + string(p)
	}
}

// builtName returns the name that the go tool gives the executable.
func (p Program) builtName() string {
	if p == Etcd {
		return "server" // the last path element that is not a major version
	}
	return string(p)
}
