package live_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archive packs a chart as `helm package` does.
func archive(t *testing.T, version string, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	tape := tar.NewWriter(zip)
	all := with(files, map[string]string{"Chart.yaml": "apiVersion: v2\nname: demo\nversion: " + version + "\nappVersion: \"7\"\n"})
	for _, name := range slices.Sorted(maps.Keys(all)) {
		require.NoError(t, tape.WriteHeader(&tar.Header{Name: "demo/" + name, Mode: 0o644, Size: int64(len(all[name]))}))
		_, err := tape.Write([]byte(all[name]))
		require.NoError(t, err)
	}
	require.NoError(t, tape.Close())
	require.NoError(t, zip.Close())
	return packed.Bytes()
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// writeChart writes a chart's folder.
func writeChart(t *testing.T, folder, version string, files map[string]string) {
	t.Helper()
	all := with(files, map[string]string{"Chart.yaml": "apiVersion: v2\nname: demo\nversion: " + version + "\n"})
	for name, content := range all {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
}

func TestChartOfAFolder(t *testing.T) {
	folder := t.TempDir()
	writeChart(t, folder, "1.0.0", with(demoFiles(), map[string]string{".helmignore": "notes/\n*.bak\n", "notes/a.md": "a", "values.yaml.bak": "b", "values.yaml": "\ufeffa: 1\n"}))
	chart, err := live.ChartFolder(folder).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "v1.0.0"})
	require.NoError(t, err)
	assert.Equal(t, "demo", chart.Name())
	assert.Equal(t, "1.0.0", chart.Version())
	assert.Empty(t, chart.Digest())
	_, ok := chart.File("notes/a.md")
	assert.False(t, ok, ".helmignore is heeded")
	values, ok := chart.File("values.yaml")
	require.True(t, ok)
	assert.Equal(t, "a: 1\n", string(values), "without the byte order mark")

	t.Run("of another version than asked", func(t *testing.T) {
		_, err := live.ChartFolder(folder).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "2.0.0"})
		require.ErrorIs(t, err, planewright.ErrInvalid)
		assert.ErrorContains(t, err, "it is demo 1.0.0, and not demo 2.0.0")
	})
	t.Run("of another name than asked", func(t *testing.T) {
		_, err := live.ChartFolder(folder).Chart(t.Context(), kube.ChartRef{Name: "flyte-binary"})
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
	t.Run("that does not exist", func(t *testing.T) {
		_, err := live.ChartFolder(filepath.Join(folder, "nowhere")).Chart(t.Context(), kube.ChartRef{Name: "demo"})
		require.ErrorIs(t, err, planewright.ErrNotFound)
	})
	t.Run("with links in a circle", func(t *testing.T) {
		circle := t.TempDir()
		writeChart(t, circle, "1.0.0", nil)
		require.NoError(t, os.Symlink(circle, filepath.Join(circle, "again")))
		_, err := live.ChartFolder(circle).Chart(t.Context(), kube.ChartRef{Name: "demo"})
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
}

func TestChartsInAFolder(t *testing.T) {
	folder := t.TempDir()
	one := archive(t, "1.0.0", demoFiles())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "demo-1.0.0.tgz"), one, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "demo-v1.1.0.tgz"), archive(t, "v1.1.0", demoFiles()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "demo-3.0.0.tgz"), archive(t, "2.0.0", demoFiles()), 0o600))
	writeChart(t, filepath.Join(folder, "other"), "5.0.0", nil)
	source := live.ChartFolder(folder)

	chart, err := source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0", Digest: digestOf(one)})
	require.NoError(t, err)
	assert.Equal(t, digestOf(one), chart.Digest())
	again, err := source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0", Digest: digestOf(one)})
	require.NoError(t, err)
	assert.Same(t, chart, again, "a chart is loaded once")

	for name, c := range map[string]struct {
		ref  kube.ChartRef
		is   error
		text string
	}{
		"with another digest":            {kube.ChartRef{Name: "demo", Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)}, planewright.ErrInvalid, digestOf(one)},
		"of a version that is not there": {kube.ChartRef{Name: "demo", Version: "9.0.0"}, planewright.ErrNotFound, "demo-v1.1.0.tgz"},
		"of several":                     {kube.ChartRef{Name: "demo"}, planewright.ErrInvalid, "there are several"},
		"that is not what it is called":  {kube.ChartRef{Name: "demo", Version: "3.0.0"}, planewright.ErrInvalid, "it is demo 2.0.0, and not demo 3.0.0"},
		"in a folder of another name":    {kube.ChartRef{Name: "other"}, planewright.ErrInvalid, "it is demo 5.0.0, and not other"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := source.Chart(t.Context(), c.ref)
			require.ErrorIs(t, err, c.is)
			assert.ErrorContains(t, err, c.text)
		})
	}
}

func TestChartArchive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.tgz")
	require.NoError(t, os.WriteFile(file, archive(t, "1.0.0", demoFiles()), 0o600))
	chart, err := live.ChartArchive(file).Chart(t.Context(), kube.ChartRef{})
	require.NoError(t, err, "an archive holds one chart, which need not be named")
	assert.Equal(t, "1.0.0", chart.Version())

	require.NoError(t, os.WriteFile(file, []byte("no archive"), 0o600))
	_, err = live.ChartArchive(file).Chart(t.Context(), kube.ChartRef{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	_, err = live.ChartArchive(file+".gone").Chart(t.Context(), kube.ChartRef{})
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestEmbeddedChart(t *testing.T) {
	files := fstest.MapFS{}
	for name, content := range with(demoFiles(), map[string]string{"Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\n"}) {
		files["charts/demo/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	for _, folder := range []string{"charts", "charts/demo"} {
		chart, err := live.ChartFS(fs.FS(files), folder).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
		require.NoError(t, err)
		assert.Equal(t, "1.0.0", chart.Version())
	}
}

// chartServer is a chart repository on this machine.
type chartServer struct {
	*httptest.Server
	indexes, archives atomic.Int32
	user, password    string
	seen              sync.Map // hosts that got credentials
}

func newChartServer(t *testing.T, index func(*chartServer) string, data []byte) *chartServer {
	t.Helper()
	s := &chartServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, given := r.BasicAuth()
		if given {
			s.seen.Store(r.Host, true)
		}
		switch {
		case s.user != "" && (user != s.user || password != s.password):
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case r.URL.Path == "/repo/index.yaml":
			s.indexes.Add(1)
			_, _ = fmt.Fprint(w, index(s))
		case strings.HasSuffix(r.URL.Path, "/demo-1.0.0.tgz"):
			s.archives.Add(1)
			_, _ = w.Write(data)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func indexOf(url, digest string) func(*chartServer) string {
	return func(*chartServer) string {
		return "apiVersion: v1\nentries:\n  demo:\n  - {apiVersion: v2, name: demo, version: 1.0.0, digest: \"" + digest + "\", urls: [\"" + url + "\"]}\n" +
			"  - {apiVersion: v2, name: demo, version: 0.9.0, urls: [demo-0.9.0.tgz]}\n"
	}
}

func TestChartRepository(t *testing.T) {
	data := archive(t, "1.0.0", demoFiles())
	server := newChartServer(t, indexOf("charts/demo-1.0.0.tgz", strings.TrimPrefix(digestOf(data), "sha256:")), data)
	source := live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP())

	var asking sync.WaitGroup
	for range 10 {
		asking.Go(func() {
			chart, err := source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "v1.0.0", Digest: digestOf(data)})
			if assert.NoError(t, err) {
				assert.Equal(t, digestOf(data), chart.Digest())
			}
		})
	}
	asking.Wait()
	assert.Equal(t, int32(1), server.indexes.Load(), "the index is read once")
	assert.Equal(t, int32(1), server.archives.Load(), "a chart is downloaded once")

	_, err := source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "3.0.0"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "there are the versions 1.0.0, 0.9.0")
	_, err = source.Chart(t.Context(), kube.ChartRef{Name: "demos", Version: "3.0.0"})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "there are the charts demo")
	_, err = source.Chart(t.Context(), kube.ChartRef{Name: "demo"})
	require.ErrorIs(t, err, planewright.ErrInvalid, "the newest version may be anything tomorrow")
	_, err = source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)})
	require.ErrorIs(t, err, planewright.ErrInvalid)
}

func TestChartRepositoryThatServesAnotherArchive(t *testing.T) {
	server := newChartServer(t, indexOf("demo-1.0.0.tgz", strings.Repeat("0", 64)), archive(t, "1.0.0", demoFiles()))
	_, err := live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP()).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.ErrorContains(t, err, "was changed on the way")
}

func TestChartRepositoryCredentials(t *testing.T) {
	data := archive(t, "1.0.0", demoFiles())
	elsewhere := newChartServer(t, indexOf("", ""), data)
	server := newChartServer(t, indexOf(elsewhere.URL+"/demo-1.0.0.tgz", ""), data)
	server.user, server.password = "reader", "hunter2"

	source := live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP(), live.WithChartCredentials("reader", planewright.SecretValue("hunter2")))
	_, err := source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
	require.NoError(t, err)
	_, leaked := elsewhere.seen.Load(strings.TrimPrefix(elsewhere.URL, "http://"))
	assert.False(t, leaked, "credentials go to the repository's own host only")

	for name, opts := range map[string][]live.ChartOption{
		"wrong": {live.WithLoopbackHTTP(), live.WithChartCredentials("reader", planewright.SecretValue("letmein"))},
		"none":  {live.WithLoopbackHTTP()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := live.ChartRepository(server.URL+"/repo", opts...).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
			require.ErrorIs(t, err, planewright.ErrDenied)
			require.ErrorContains(t, err, strings.TrimPrefix(server.URL, "http://"))
			assert.NotContains(t, err.Error(), "letmein")
		})
	}
}

func TestChartRepositoryAddresses(t *testing.T) {
	ref := kube.ChartRef{Name: "demo", Version: "1.0.0"}
	for name, c := range map[string]struct {
		address string
		opts    []live.ChartOption
		text    string
	}{
		"http":             {"http://charts.example.com", nil, "use https"},
		"http by option":   {"http://charts.example.com", []live.ChartOption{live.WithLoopbackHTTP()}, "use https"},
		"another protocol": {"oci://charts.example.com", nil, "https only"},
		"no URL":           {"charts", nil, "is not the URL of a chart repository"},
		"a secret":         {"http://user:hunter2@charts.example.com?token=hunter2", nil, "use https"},
		"nonsense":         {"https://user:hunter2@ex ample.com", nil, "cannot be parsed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := live.ChartRepository(c.address, c.opts...).Chart(t.Context(), ref)
			require.ErrorIs(t, err, planewright.ErrInvalid)
			require.ErrorContains(t, err, c.text)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestChartRepositoryThatAnswersNonsense(t *testing.T) {
	for name, index := range map[string]string{
		"no YAML":        "\t{",
		"a web page":     "<html></html>",
		"another object": "kind: Something\n",
		"no entries":     "apiVersion: v1\n",
		"empty entries":  "apiVersion: v1\nentries: {demo: [null, {urls: []}]}\n",
		"no URLs":        "apiVersion: v1\nentries: {demo: [{name: demo, version: 1.0.0}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := newChartServer(t, func(*chartServer) string { return index }, nil)
			_, err := live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP()).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
			require.Error(t, err)
			assert.False(t, retryable(err))
		})
	}
}

func TestChartThatFailsForOneIsLoadedForTheNext(t *testing.T) {
	data := archive(t, "1.0.0", demoFiles())
	server := newChartServer(t, indexOf("demo-1.0.0.tgz", ""), data)
	source := live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP())
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	_, err := source.Chart(given, kube.ChartRef{Name: "demo", Version: "1.0.0"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = source.Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
	require.NoError(t, err)

	server.Close()
	_, err = live.ChartRepository(server.URL+"/repo", live.WithLoopbackHTTP()).Chart(t.Context(), kube.ChartRef{Name: "demo", Version: "1.0.0"})
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.True(t, retryable(err))
}
