package live

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FromKubeconfig returns the cluster that a context of a kubeconfig file leads
// to. The cluster's name is the context's, unless [WithName] sets another.
//
// An empty path means kubectl's rules: the files in $KUBECONFIG, else
// ~/.kube/config. An empty context means the file's current one. A file or a
// context that does not exist is an error that matches
// [planewright.ErrNotFound] and names the contexts that do exist; a file that
// cannot be read as a kubeconfig matches [planewright.ErrInvalid].
func FromKubeconfig(path, context string, opts ...Option) (kube.Cluster, error) {
	file, err := loadKubeconfig(path)
	if err != nil {
		return kube.Cluster{}, err
	}
	if context == "" {
		context = file.CurrentContext
	}
	if context == "" {
		return kube.Cluster{}, fmt.Errorf("%s has no current context: %w; name one of %s", where(path), planewright.ErrNotFound, names(file))
	}
	if _, ok := file.Contexts[context]; !ok {
		return kube.Cluster{}, fmt.Errorf("context %q in %s: %w; there are %s", context, where(path), planewright.ErrNotFound, names(file))
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*file, context, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return kube.Cluster{}, fmt.Errorf("context %q in %s: %w: %w", context, where(path), planewright.ErrInvalid, err)
	}
	return FromConfig(cmp.Or(newOptions(opts).name, context), config, opts...)
}

// Contexts returns the names of the contexts of a kubeconfig file, sorted. The
// path and the errors are as those of [FromKubeconfig].
func Contexts(path string) ([]string, error) {
	file, err := loadKubeconfig(path)
	if err != nil {
		return nil, err
	}
	return contextNames(file), nil
}

func loadKubeconfig(path string) (*clientcmdapi.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	if path != "" {
		rules.ExplicitPath = path
	}
	file, err := rules.Load()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", where(path), planewright.ErrNotFound)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s: %w: %w", where(path), planewright.ErrDenied, err)
	case err != nil:
		return nil, fmt.Errorf("%s is not a kubeconfig: %w: %w", where(path), planewright.ErrInvalid, err)
	}
	return file, nil
}

// where names the file for errors.
func where(path string) string {
	if path == "" {
		path = strings.Join(clientcmd.NewDefaultClientConfigLoadingRules().Precedence, ", ")
	}
	return "kubeconfig " + path
}

func names(file *clientcmdapi.Config) string {
	list := contextNames(file)
	if len(list) == 0 {
		return "no contexts"
	}
	return "the contexts " + strings.Join(list, ", ")
}

func contextNames(file *clientcmdapi.Config) []string {
	list := make([]string, 0, len(file.Contexts))
	for name := range file.Contexts {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
