package kubestack

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NeverPulls is a part of an image's name that makes a pod with such an image
// stay in ImagePullBackOff, as one whose image does not exist does:
// never-pulls.invalid/team/app:v1, for example.
const NeverPulls = "never-pulls.invalid"

// The stages of this package's own, in addition to those that kwok brings.
//
//go:embed image-pull-backoff.yaml
var imagePullBackOffStages []byte

// kwokStageFiles returns the files of the kwok module that describe how nodes
// become ready and stay so, how pods run, complete and go, and how volumes are
// provisioned. kwok does nothing without them and its executable does not carry them.
func kwokStageFiles() []string {
	return []string{
		"kustomize/stage/node/fast/node-initialize.yaml",
		"kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
		"kustomize/stage/pod/fast/pod-ready.yaml",
		"kustomize/stage/pod/fast/pod-complete.yaml",
		"kustomize/stage/pod/fast/pod-delete.yaml",
	}
}

// writeStages writes the stages of the kwok module that the go tool resolves to
// one file.
func writeStages(ctx context.Context, tool goTool, file string) error {
	dir, err := tool.run(ctx, "list", "-m", "-f", "{{.Dir}}", kwokModule)
	if err != nil {
		return err
	}
	var all [][]byte
	for _, name := range kwokStageFiles() {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("read a stage of kwok: %w", err)
		}
		all = append(all, content)
	}
	if err := os.WriteFile(file, bytes.Join(all, []byte("\n---\n")), 0o644); err != nil {
		return fmt.Errorf("write the stages of kwok: %w", err)
	}
	return nil
}
