package kubestack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotBuilt is what [Find] returns as long as [Build] has not run for the
// versions and flags of this package.
var ErrNotBuilt = errors.New("the control plane is not built yet: run `kubestack build`")

// Binaries is a folder with the executables of a control plane, as [Build] makes it.
type Binaries struct {
	// Dir is the folder; each executable in it is named as its [Program].
	Dir string
}

// Path returns the path of a program's executable.
func (b Binaries) Path(p Program) string {
	return filepath.Join(b.Dir, string(p))
}

// stages returns the path of the file with the life cycle that kwok gives nodes and pods.
func (b Binaries) stages() string {
	return filepath.Join(b.Dir, "stages.yaml")
}

// check reports the first file that the folder lacks. A cache folder may be
// emptied in part by hand or by a cleaner of old files.
func (b Binaries) check() error {
	files := []string{b.stages()}
	for _, p := range Programs() {
		files = append(files, b.Path(p))
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("incomplete build: %w", err)
		}
	}
	return nil
}
