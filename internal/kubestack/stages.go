package kubestack

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// NeverPulls is a part of an image's name that makes a pod with such an image
// stay in ImagePullBackOff, as one whose image does not exist does:
// never-pulls.invalid/team/app:v1, for example.
const NeverPulls = "never-pulls.invalid"

// The stages of this package's own, in addition to those that kwok brings.
//
//go:embed stages
var ownStages embed.FS

// kwokStageFiles returns the files of the kwok module that describe how nodes
// become ready and stay so and how pods run, complete and go. kwok does nothing
// without them, and its executable does not carry them.
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
	return joinFiles(file, os.DirFS(strings.TrimSpace(dir)), kwokStageFiles()...)
}

// writeOwnStages writes this package's stages to one file.
func writeOwnStages(file string) error {
	return joinFiles(file, ownStages, "stages/image-pull-backoff.yaml", "stages/volumes.yaml")
}

// joinFiles writes YAML files, as several documents, to one.
func joinFiles(file string, from fs.FS, names ...string) error {
	var all [][]byte
	for _, name := range names {
		content, err := fs.ReadFile(from, name)
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
