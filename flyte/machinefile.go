package flyte

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/planewright/planewright"
)

// modesMatter tells whether this system's files have modes.
const modesMatter = runtime.GOOS != "windows"

// replaceFile writes a file as a whole or not at all, readable by its owner
// only: it is written under another name in the same folder, which is made if
// it is missing, and then takes the name. A run that is cut off leaves the old file.
func replaceFile(path string, data []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fileError(err)
	}
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return fileError(err)
	}
	_, err = file.Write(data)
	if err == nil {
		// What has the name must have the content, also after a power cut.
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return fileError(err)
}

// fileError gives an error of a file its place among the sentinel errors.
func fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", err, planewright.ErrDenied)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", err, planewright.ErrNotFound)
	}
	return err
}
