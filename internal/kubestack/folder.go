package kubestack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const (
	folderPattern = "kubestack-*"
	ownerLock     = "owner.lock"

	// socketPathLimit is what the shortest limit among Unix systems leaves for a
	// path, a terminating zero apart.
	socketPathLimit = 103
)

// folder is the folder of one stack. The process that made it holds a lock in it, so
// that a later one can tell what nobody uses any more.
type folder struct {
	path string
	logs string
	lock *flock.Flock
}

// newFolder makes a folder below parent, and removes there what stacks have left
// whose process ended without Stop. Logs go to logDir if there is one.
func newFolder(parent, logDir string) (*folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	// The processes run in another working folder.
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the stack: %w", err)
	}
	removeAbandoned(parent)
	path, err := os.MkdirTemp(parent, folderPattern)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the stack: %w", err)
	}
	f := &folder{path: path, logs: filepath.Join(path, "logs")}
	if err := f.prepare(logDir); err != nil {
		_ = f.remove() // the first error says more
		return nil, fmt.Errorf("make a folder for the stack: %w", err)
	}
	return f, nil
}

// prepare takes the lock and makes what the folder starts with.
func (f *folder) prepare(logDir string) error {
	if socket := f.etcdSocket(); len(socket) > socketPathLimit {
		return fmt.Errorf("the path %s is longer than the %d bytes that a Unix socket's may have: choose a shorter Config.Dir", socket, socketPathLimit)
	}
	// The lock gets its name when it is held: under that name it is always safe to
	// take a free lock for an abandoned folder.
	early := f.join(ownerLock + ".new")
	f.lock = flock.New(early)
	if err := f.lock.Lock(); err != nil {
		return err
	}
	if err := os.Rename(early, f.join(ownerLock)); err != nil {
		return err
	}
	if logDir != "" {
		var err error
		if f.logs, err = filepath.Abs(logDir); err != nil {
			return err
		}
	}
	return os.MkdirAll(f.logs, 0o755)
}

// join returns a path in the folder.
func (f *folder) join(elements ...string) string {
	return filepath.Join(append([]string{f.path}, elements...)...)
}

// etcdSocket returns the path of the socket that etcd serves clients on. A socket
// in a folder that only its owner may enter needs neither a port nor certificates.
func (f *folder) etcdSocket() string { return f.join("etcd.sock") }

// remove removes the folder and gives its lock back.
func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		_ = f.lock.Close() // the folder with the lock is gone
	}
	if err != nil {
		return fmt.Errorf("remove the stack's folder: %w", err)
	}
	return nil
}

// removeAllButLogs removes what a failed start has left except the logs, which
// its error points to. The next stack's start removes the rest.
func (f *folder) removeAllButLogs() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("clear the stack's folder: %w", err)
	}
	for _, entry := range entries {
		path := f.join(entry.Name())
		if path == f.logs || entry.Name() == ownerLock {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear the stack's folder: %w", err)
		}
	}
	return f.lock.Close()
}

// removeAbandoned removes the folders below parent whose lock nobody holds. What
// cannot be removed, another user's for one, stays.
func removeAbandoned(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, folderPattern, ownerLock))
	if err != nil {
		return // only a malformed pattern is an error
	}
	for _, path := range locks {
		lock := flock.New(path)
		if free, err := lock.TryLock(); err == nil && free {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}

// logFile returns the path of the log of a cluster's program, or of one that belongs
// to no cluster.
func (f *folder) logFile(p Program, cluster string) string {
	name := string(p) + ".log"
	if cluster != "" {
		name = cluster + "-" + name
	}
	return filepath.Join(f.logs, name)
}
