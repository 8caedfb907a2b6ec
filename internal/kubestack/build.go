package kubestack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// cacheDirVariable is the environment variable that moves the cache folder.
const cacheDirVariable = "PLANEWRIGHT_KUBESTACK_DIR"

// lockRetry is how often a Build looks whether another one has finished.
const lockRetry = 250 * time.Millisecond

// Options says where and how [Build] builds. The zero value is ready to use.
type Options struct {
	// CacheDir is the folder that holds a folder for each build. The default is
	// the environment variable PLANEWRIGHT_KUBESTACK_DIR, or
	// planewright/kubestack in the user's cache folder.
	CacheDir string

	// Log receives what the build is doing, a line at a time. The default is silence.
	Log io.Writer
}

// Find returns the executables of an earlier [Build], or [ErrNotBuilt].
func Find(o Options) (Binaries, error) {
	dir, err := o.buildDir()
	if err != nil {
		return Binaries{}, err
	}
	b := Binaries{Dir: dir}
	if err := b.check(); err != nil {
		return Binaries{}, fmt.Errorf("%w (%w)", ErrNotBuilt, err)
	}
	return b, nil
}

// Build returns the executables of the control plane, and builds them first
// where no earlier call has. Builds in several processes wait for each other.
// A build that fails or is cancelled leaves nothing behind but the go tool's own
// cache. The folders of other versions stay; they can be deleted at any time.
func Build(ctx context.Context, o Options) (Binaries, error) {
	b, err := Find(o)
	if !errors.Is(err, ErrNotBuilt) {
		return b, err
	}
	dir, err := o.buildDir()
	if err != nil {
		return Binaries{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Binaries{}, fmt.Errorf("make the cache folder: %w", err)
	}
	log := newProgress(o.Log)

	lock := flock.New(dir + ".lock")
	if held, err := lock.TryLock(); err == nil && !held {
		log.printf("waiting for another build of %s", dir)
	}
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return Binaries{}, fmt.Errorf("wait for another build of %s: %w", dir, err)
	}
	defer lock.Close()

	// Another process may have built while this one waited.
	if b, err := Find(o); err == nil {
		return b, nil
	}

	// Whoever holds the lock is the only one to build this: what a build that was
	// killed has left is nobody's.
	temporary := filepath.Base(dir) + ".tmp-"
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), temporary+"*"))
	for _, abandoned := range left {
		err = errors.Join(err, os.RemoveAll(abandoned))
	}
	if err != nil {
		return Binaries{}, fmt.Errorf("remove what an earlier build has left: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), temporary)
	if err != nil {
		return Binaries{}, fmt.Errorf("make a folder to build in: %w", err)
	}
	defer os.RemoveAll(work)

	out := filepath.Join(work, "out")
	if err := compile(ctx, filepath.Join(work, "src"), out, log); err != nil {
		return Binaries{}, err
	}
	// Only a whole build ever gets the final name. What is there now, if
	// anything, is a build that lacks files.
	if err := os.RemoveAll(dir); err != nil {
		return Binaries{}, fmt.Errorf("remove an incomplete build: %w", err)
	}
	if err := os.Rename(out, dir); err != nil {
		return Binaries{}, fmt.Errorf("move the build to its place: %w", err)
	}
	return Find(o)
}

// buildDir returns the folder of the build that fits this package's sources.
func (o Options) buildDir() (string, error) {
	hash, err := buildHash()
	if err != nil {
		return "", err
	}
	cache := o.CacheDir
	if cache == "" {
		cache = os.Getenv(cacheDirVariable)
	}
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder (set %s to choose one): %w", cacheDirVariable, err)
		}
		cache = filepath.Join(user, "planewright", "kubestack")
	}
	// The go tool and the processes of a stack run in folders of their own.
	cache, err = filepath.Abs(cache)
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(cache, hash), nil
}

// compile builds every program, and the file of kwok's stages, into out.
func compile(ctx context.Context, src, out string, log progress) error {
	for _, dir := range []string{src, out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a folder to build in: %w", err)
		}
	}
	// A module without packages of its own is enough to build the packages that
	// it requires.
	tool := goTool{dir: src, log: log}
	for name, content := range map[string][]byte{"go.mod": goMod, "go.sum": goSum} {
		if err := os.WriteFile(filepath.Join(src, name), content, 0o644); err != nil {
			return fmt.Errorf("write the module to build: %w", err)
		}
	}

	flags, err := buildFlags()
	if err != nil {
		return err
	}
	// One call for all of them: the packages that they share compile once, and
	// the go tool runs as much as it can side by side.
	args := append([]string{"build"}, flags...)
	args = append(args, "-o", out+string(filepath.Separator))
	for _, p := range Programs() {
		args = append(args, p.importPath())
	}
	start := time.Now()
	log.printf("building %v; the first time takes minutes", Programs())
	if _, err := tool.run(ctx, args...); err != nil {
		return err
	}
	log.printf("built in %s", time.Since(start).Round(time.Second))

	b := Binaries{Dir: out}
	for _, p := range Programs() {
		if err := os.Rename(filepath.Join(out, p.builtName()), b.Path(p)); err != nil {
			return fmt.Errorf("name the executable of %s: %w", p, err)
		}
	}
	return writeStages(ctx, tool, b.stages())
}

// goTool runs the go command in a folder.
type goTool struct {
	dir string
	log progress
}

// run runs the go command and returns its standard output.
func (t goTool) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0",
		// A workspace or flags of the caller's (-mod=vendor, say) are about
		// another module.
		"GOWORK=off",
		"GOFLAGS=-mod=readonly",
	)
	tail := &tailWriter{}
	cmd.Stderr = io.MultiWriter(tail, t.log)
	// An interrupt lets the go command remove its own temporary folder.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], errors.Join(context.Cause(ctx), err), tail)
	}
	return string(out), nil
}
