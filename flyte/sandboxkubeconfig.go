package flyte

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/planewright/planewright"
	"sigs.k8s.io/yaml"
)

// kubeconfigStep writes the kubeconfig of the sandbox's Kubernetes to the
// user's folder: with the port of this machine, and as the context
// flyte-sandbox with the namespace flyte, as flytectl names them.
func (b sandboxBinding) kubeconfigStep() planewright.Step {
	path := b.Access(b.env).Kubeconfig
	object := planewright.Object{Kind: fileKind, Name: path}
	return planewright.Step{
		ID:      b.step("kubeconfig"),
		Title:   "kubeconfig " + path,
		Needs:   []string{b.step("container")},
		Objects: []planewright.Object{object},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			if _, err := b.running().Get(run); err != nil {
				return planewright.Change{}, err
			}
			want, err := b.kubeconfig(ctx)
			if err != nil {
				return planewright.Change{}, err
			}
			have, err := os.ReadFile(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return planewright.Change{Action: planewright.ActionCreate, Diff: []planewright.FieldDiff{{Path: "contexts." + sandboxName, After: "https://127.0.0.1:" + strconv.Itoa(b.port)}}}, nil
			case err != nil:
				return planewright.Change{}, fileError(err)
			case bytes.Equal(have, want):
				return planewright.Change{Action: planewright.ActionNone}, nil
			}
			return planewright.Change{Action: planewright.ActionUpdate, Diff: []planewright.FieldDiff{{Path: "contexts." + sandboxName, Secret: true}}}, nil
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			want, err := b.kubeconfig(ctx)
			if err != nil {
				return err
			}
			return replaceFile(path, want)
		},
		Undo: func(context.Context, *planewright.Run) error {
			// It is of no use without the container, and this sandbox's alone.
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fileError(err)
			}
			return nil
		},
	}
}

// kubeconfig reads the file in the container and turns it to this machine.
func (b sandboxBinding) kubeconfig(ctx context.Context) ([]byte, error) {
	text, err := b.env.engine.ReadFile(ctx, sandboxName, sandboxKubeconfig)
	if err != nil {
		return nil, err
	}
	var config struct {
		Clusters []struct {
			Cluster map[string]any `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User map[string]any `json:"user"`
		} `json:"users"`
	}
	// An error of the parser would show the line, which may hold a key.
	if yaml.Unmarshal(text, &config) != nil || len(config.Clusters) == 0 || len(config.Users) == 0 {
		return nil, fmt.Errorf("%s in container %s is no kubeconfig: %w", sandboxKubeconfig, sandboxName, planewright.ErrInvalid)
	}
	config.Clusters[0].Cluster["server"] = "https://127.0.0.1:" + strconv.Itoa(b.port)
	return yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": sandboxName,
		"clusters": []any{map[string]any{"name": sandboxName, "cluster": config.Clusters[0].Cluster}},
		"users":    []any{map[string]any{"name": sandboxName, "user": config.Users[0].User}},
		"contexts": []any{map[string]any{"name": sandboxName, "context": map[string]any{"cluster": sandboxName, "user": sandboxName, "namespace": DefaultNamespace}}},
	})
}
