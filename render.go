package planewright

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// FileWriter takes rendered files. [Directory] is one on disk.
type FileWriter interface {
	// WriteFile writes one file; the name is a slash-separated relative path.
	WriteFile(name string, data []byte) error
}

// Directory writes rendered files below a directory, which it makes if it is
// missing. Files that are there already under the same names are replaced;
// others are left alone.
func Directory(dir string) FileWriter { return directory(dir) }

type directory string

// WriteFile implements [FileWriter].
func (d directory) WriteFile(name string, data []byte) error {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return err
	}
	// The root keeps a name with ".." or a symbolic link from leading elsewhere.
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o644)
}

// UnrenderedFile is the file in which Render names the steps that cannot be
// rendered before another has run. It is written only if there are any.
const UnrenderedFile = "unrendered.txt"

// Render writes the desired state of the stack as files, for review or
// GitOps: values, manifests, policies. Secrets are written as "[redacted]".
// Steps have their files below their ids, without the stack's own part of it.
func (s Stack) Render(ctx context.Context, w FileWriter, options ...Option) error {
	arguments := []Argument{s, apart{}}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	e, err := newEngine(arguments)
	if err != nil {
		return err
	}
	defer e.close()
	steps := e.targeted(e.steps)
	files := make([][]File, len(steps))
	unknown := make([]string, len(steps))
	results := e.walk(ctx, steps, func(ctx context.Context, i int) error {
		step := steps[i]
		if step.Render == nil {
			return nil
		}
		var err error
		files[i], err = step.Render(ctx, e.view(step.ID))
		if errors.Is(err, ErrUnknown) {
			unknown[i] = fmt.Sprintf("%s: %v\n", step.ID, err)
			return nil
		}
		if err != nil {
			return &StepError{Step: step.ID, Cluster: step.Cluster, Op: OpRender, Attempts: 1, Err: err}
		}
		return nil
	})
	if err := runError(ctx, steps, results); err != nil {
		return err
	}
	written := map[string]string{}
	for i, list := range files {
		for _, f := range list {
			if other, ok := written[f.Name]; ok {
				return fmt.Errorf("steps %s and %s both render %s: %w", other, steps[i].ID, f.Name, ErrConflict)
			}
			written[f.Name] = steps[i].ID
			if err := w.WriteFile(f.Name, f.Data); err != nil {
				return fmt.Errorf("writing %s: %w", f.Name, err)
			}
		}
	}
	if text := strings.Join(unknown, ""); text != "" {
		return w.WriteFile(UnrenderedFile, []byte(text))
	}
	return nil
}
