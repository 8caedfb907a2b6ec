package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

// maxLinks is how deep links to folders are followed.
const maxLinks = 32

// utf8BOM is left out of files, as Helm does.
const utf8BOM = "\xef\xbb\xbf"

// fromArchive reads a chart archive. Where says where it came from, for errors.
func fromArchive(data []byte, where string, ref kube.ChartRef) (*kube.Chart, error) {
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if ref.Digest != "" && !strings.EqualFold(ref.Digest, digest) {
		return nil, invalidChart(where, fmt.Errorf("its digest is %s, and not %s as it must be; it is another file, or was changed on the way", digest, ref.Digest))
	}
	files, err := loader.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return nil, invalidChart(where, fmt.Errorf("it is no chart archive: %w", err))
	}
	return fromFiles(files, where, digest, ref)
}

// fromFolder reads a chart from its folder, leaving out what .helmignore names.
func fromFolder(folder fs.FS, where string, ref kube.ChartRef) (*kube.Chart, error) {
	rules := ignore.Empty()
	if data, err := fs.ReadFile(folder, ignore.HelmIgnore); err == nil {
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, invalidChart(where, fmt.Errorf("%s: %w", ignore.HelmIgnore, err))
		}
	}
	rules.AddDefaults()
	w := folderWalk{folder: folder, rules: rules}
	if err := w.walk(".", 0); err != nil {
		return nil, invalidChart(where, err)
	}
	return fromFiles(w.files, where, "", ref)
}

// folderWalk collects a chart's files.
type folderWalk struct {
	folder fs.FS
	rules  *ignore.Rules
	files  []*loader.BufferedFile
	size   int64
}

func (w *folderWalk) walk(dir string, links int) error {
	entries, err := fs.ReadDir(w.folder, dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		info, err := fs.Stat(w.folder, name) // what a link leads to
		if err != nil {
			return err
		}
		if w.rules.Ignore(name, info) {
			continue
		}
		linked := links
		if entry.Type()&fs.ModeSymlink != 0 {
			linked++
		}
		switch {
		case linked > maxLinks:
			return fmt.Errorf("%s: links lead round in a circle", name)
		case info.IsDir():
			err = w.walk(name, linked)
		case !info.Mode().IsRegular():
			err = fmt.Errorf("%s is no regular file", name)
		default:
			err = w.add(name, info.Size())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *folderWalk) add(name string, size int64) error {
	if w.size += size; size > loader.MaxDecompressedFileSize || w.size > loader.MaxDecompressedChartSize {
		return fmt.Errorf("%s has %d bytes, Helm allows %d in a file and %d in a chart; name what the chart does not need in .helmignore",
			name, size, loader.MaxDecompressedFileSize, loader.MaxDecompressedChartSize)
	}
	data, err := fs.ReadFile(w.folder, name)
	if err != nil {
		return err
	}
	w.files = append(w.files, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, []byte(utf8BOM))})
	return nil
}

// fromFiles makes a chart of its files, if they are one, and the one asked for.
func fromFiles(files []*loader.BufferedFile, where, digest string, ref kube.ChartRef) (*kube.Chart, error) {
	parsed, err := loader.LoadFiles(slices.Clone(files))
	if err != nil {
		return nil, invalidChart(where, err)
	}
	meta := parsed.Metadata
	if ref.Name != "" && meta.Name != ref.Name || ref.Version != "" && !sameVersion(meta.Version, ref.Version) {
		return nil, invalidChart(where, fmt.Errorf("it is %s %s, and not %s as asked", meta.Name, meta.Version, chartName(ref)))
	}
	kept := make([]kube.ChartFile, len(files))
	for i, f := range files {
		kept[i] = kube.ChartFile{Name: f.Name, Data: f.Data}
	}
	return kube.NewChart(meta.Name, meta.Version, meta.AppVersion, digest, kept), nil
}

// sameVersion compares versions as charts write them, with or without a "v".
func sameVersion(a, b string) bool {
	return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}

func chartName(ref kube.ChartRef) string {
	return strings.TrimSpace(ref.Name + " " + ref.Version)
}

// invalidChart is an error of what was found where a chart should be.
func invalidChart(where string, err error) error {
	sentinel := planewright.ErrInvalid
	if errors.Is(err, fs.ErrPermission) {
		sentinel = planewright.ErrDenied
	}
	return &callError{op: "load", object: "chart from " + where, verdict: verdict{sentinel: sentinel}, err: err}
}

// missingChart is the error of a chart that is not there.
func missingChart(where string, ref kube.ChartRef, hint string) error {
	return &callError{
		op: "load", object: "chart " + chartName(ref) + " from " + where,
		verdict: verdict{sentinel: planewright.ErrNotFound, hint: hint}, err: errors.New("it is not there"),
	}
}
