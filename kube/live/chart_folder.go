package live

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// ChartArchive returns a source of the one chart in an archive, as `helm
// package` makes it. The file is read when the chart is asked for.
func ChartArchive(file string) kube.ChartSource {
	return &fileCharts{
		where: file,
		load: func(ref kube.ChartRef) (*kube.Chart, error) {
			data, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, missingChart(file, ref, "is the path right?")
			}
			if err != nil {
				return nil, invalidChart(file, err)
			}
			return fromArchive(data, file, ref)
		},
	}
}

// ChartFolder returns a source of the charts in a folder: either the folder is
// a chart (it has a Chart.yaml), or it holds charts, as archives called
// NAME-VERSION.tgz or as folders called NAME. It is read when a chart is asked
// for. A chart that is a folder has no digest, so none is checked.
func ChartFolder(folder string) kube.ChartSource {
	return folderCharts(os.DirFS(folder), ".", filepath.Clean(folder))
}

// ChartFS returns a source of the charts in a folder of a file system, for
// charts that are embedded in a program. It works as [ChartFolder] does.
func ChartFS(files fs.FS, folder string) kube.ChartSource {
	return folderCharts(files, path.Clean(folder), "embedded folder "+folder)
}

func folderCharts(files fs.FS, folder, where string) kube.ChartSource {
	return &fileCharts{where: where, load: func(ref kube.ChartRef) (*kube.Chart, error) {
		root, err := fs.Sub(files, folder)
		if err != nil {
			return nil, invalidChart(where, err)
		}
		return fromCharts(root, where, ref)
	}}
}

// fileCharts reads charts that lie on disk, each once.
type fileCharts struct {
	where string
	load  func(kube.ChartRef) (*kube.Chart, error)
	once  once[kube.ChartRef, *kube.Chart]
}

// Chart implements [kube.ChartSource].
func (c *fileCharts) Chart(ctx context.Context, ref kube.ChartRef) (*kube.Chart, error) {
	return c.once.do(ctx, ref, func(ctx context.Context) (*kube.Chart, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return c.load(ref)
	})
}

// fromCharts finds a chart in a folder that is one or holds some.
func fromCharts(root fs.FS, where string, ref kube.ChartRef) (*kube.Chart, error) {
	entries, err := fs.ReadDir(root, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingChart(where, ref, "the folder does not exist")
	}
	if err != nil {
		return nil, invalidChart(where, err)
	}
	var archives, folders []string
	for _, e := range entries {
		switch {
		case e.Name() == "Chart.yaml":
			return fromFolder(root, where, ref)
		case strings.HasSuffix(e.Name(), ".tgz"):
			archives = append(archives, e.Name())
		default:
			if _, err := fs.Stat(root, path.Join(e.Name(), "Chart.yaml")); err == nil {
				folders = append(folders, e.Name())
			}
		}
	}
	fitting := slices.DeleteFunc(slices.Clone(archives), func(name string) bool { return !isArchiveOf(name, ref) })
	switch {
	case len(fitting) > 1:
		return nil, &callError{op: "load", object: "chart " + chartName(ref) + " from " + where, err: errors.New("there are several: " + strings.Join(fitting, ", ")),
			verdict: verdict{sentinel: planewright.ErrInvalid, hint: "ask for a version"}}
	case len(fitting) == 1:
		data, err := fs.ReadFile(root, fitting[0])
		if err != nil {
			return nil, invalidChart(path.Join(where, fitting[0]), err)
		}
		return fromArchive(data, path.Join(where, fitting[0]), ref)
	case slices.Contains(folders, ref.Name):
		sub, err := fs.Sub(root, ref.Name)
		if err != nil {
			return nil, invalidChart(where, err)
		}
		return fromFolder(sub, path.Join(where, ref.Name), ref)
	}
	hint := "there is no chart in it"
	if all := slices.Concat(archives, folders); len(all) > 0 {
		hint = "there are " + strings.Join(all, ", ")
	}
	return nil, missingChart(where, ref, hint)
}

// isArchiveOf reports whether a file is called as the archive of a chart is.
func isArchiveOf(file string, ref kube.ChartRef) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), ref.Name+"-")
	if !ok {
		return false
	}
	if ref.Version == "" {
		return strings.IndexFunc(strings.TrimPrefix(rest, "v"), func(r rune) bool { return r >= '0' && r <= '9' }) == 0
	}
	return sameVersion(rest, ref.Version)
}
