package kubestack

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// tailLines is how many of a process' last lines an error quotes.
const tailLines = 15

// tailBytes bounds what is kept or read to find them.
const tailBytes = 8 << 10

// tailWriter keeps the end of what is written to it.
type tailWriter struct{ kept []byte }

// Write keeps the end of b.
func (t *tailWriter) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append([]byte(nil), t.kept[over:]...)
	}
	return len(b), nil
}

// String returns the last lines.
func (t *tailWriter) String() string { return lastLines(t.kept) }

// tailFile returns the last lines of a file, or why it cannot be read.
func tailFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		// A file that cannot be sought is read from its start.
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	content, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return lastLines(content)
}

// lastLines returns the last lines of b.
func lastLines(b []byte) string {
	b = bytes.TrimRight(b, "\n")
	lines := bytes.Split(b, []byte("\n"))
	if over := len(lines) - tailLines; over > 0 {
		lines = lines[over:]
	}
	return strings.TrimSpace(string(bytes.Join(lines, []byte("\n"))))
}
