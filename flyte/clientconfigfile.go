package flyte

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// ClientConfigFile keeps a [ClientConfig] in a file of this machine. It is a
// value: every method returns a changed copy.
//
//	file := flyte.NewClientConfigFile(filepath.Join(home, ".flyte", "config.yaml"), deployment.ClientConfig())
//	stack := deployment.On(env).WithSteps(file.Step("flyte/ml/client-config"))
//
// The file is readable by its owner only, and changed as a whole or not at all.
// One that is there with other content is kept beside it as bak.config.yaml
// (bak.2.config.yaml, …); no backup is ever written over.
type ClientConfigFile struct {
	path   string
	config ClientConfig
	merge  bool
}

// NewClientConfigFile keeps the configuration at an absolute path.
func NewClientConfigFile(path string, config ClientConfig) ClientConfigFile {
	return ClientConfigFile{path: path, config: config}
}

// WithMerge sets the configuration's keys in a file that is there and leaves
// its other keys, its comments and their order as they are. By default the
// configuration takes the place of the whole file.
func (f ClientConfigFile) WithMerge() ClientConfigFile {
	f.merge = true
	return f
}

// Path returns where the file is.
func (f ClientConfigFile) Path() string { return f.path }

// Export returns the line for a shell that has clients use the file:
// "export FLYTECTL_CONFIG=/home/me/.flyte/config-sandbox.yaml".
func (f ClientConfigFile) Export() string { return "export FLYTECTL_CONFIG=" + shellQuoted(f.path) }

// shellQuoted writes a text so that a POSIX shell reads it as one word.
func shellQuoted(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Validate returns a [*planewright.ValidationError] with everything that is wrong, or nil.
func (f ClientConfigFile) Validate() error {
	var p planewright.Problems
	f.validate(&p)
	return p.Err("flyte client configuration")
}

func (f ClientConfigFile) validate(p *planewright.Problems) {
	if !filepath.IsAbs(f.path) {
		p.Add("clientConfig.path", f.path, "the file is named by its absolute path", "join the user's home folder, .flyte and config.yaml")
	}
	f.config.validate(p, "clientConfig")
}

// Write writes the file now, outside of a stack. It reports whether anything
// had to be written.
func (f ClientConfigFile) Write(ctx context.Context) (bool, error) {
	if err := f.Validate(); err != nil {
		return false, err
	}
	look, err := f.look()
	if err != nil || look.same {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	return true, f.write(look)
}

// Step returns the step that keeps the file, for a stack. It needs the steps
// with the given ids. An uninstall deletes the file if it is still as written,
// and leaves backups.
func (f ClientConfigFile) Step(id string, needs ...string) planewright.Step {
	return planewright.Step{
		ID:      id,
		Title:   "client configuration " + f.path,
		Needs:   needs,
		Objects: []planewright.Object{f.object()},
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			if err := f.Validate(); err != nil {
				return planewright.Change{}, err
			}
			look, err := f.look()
			return look.change, err
		},
		Apply: func(_ context.Context, run *planewright.Run) error {
			look, err := f.look()
			if err != nil || look.same {
				return err
			}
			if err := f.write(look); err != nil {
				return err
			}
			run.Advise("have clients use the configuration: %s", f.Export())
			return nil
		},
		Undo:   f.undo,
		Render: f.render,
	}
}

// fileKind is how a file of this machine is named as an object.
const fileKind = "File"

func (f ClientConfigFile) object() planewright.Object {
	return planewright.Object{Kind: fileKind, Name: f.path}
}

// fileLook is what is in the file's place, and what is to be.
type fileLook struct {
	// target is the file itself, where the path leads to it by links.
	target string
	// had is what is there, nil for nothing; text what is to be.
	had, text []byte
	// same tells that nothing is to be written.
	same   bool
	change planewright.Change
}

// look compares the file with what it should be.
func (f ClientConfigFile) look() (fileLook, error) {
	target, err := followed(f.path)
	if err != nil {
		return fileLook{}, err
	}
	look := fileLook{target: target}
	if look.text, err = f.config.YAML(); err != nil {
		return fileLook{}, err
	}
	info, err := os.Stat(look.target)
	if errors.Is(err, fs.ErrNotExist) {
		look.change = planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: f.diff(nil)}
		return look, nil
	}
	if err != nil {
		return fileLook{}, fileError(err)
	}
	fingerprint := fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format("20060102T150405.000000000"))
	if !info.Mode().IsRegular() {
		look.change = planewright.Change{Action: planewright.ActionBlocked, Fingerprint: fingerprint, Reason: f.path + " is no file; remove it, or use another path"}
		return look, nil
	}
	if look.had, err = os.ReadFile(look.target); err != nil {
		return fileLook{}, fileError(err)
	}
	had := map[string]any{}
	isMapping := yaml.Unmarshal(look.had, &had) == nil
	if f.merge && len(bytes.TrimSpace(look.had)) > 0 {
		var ok bool
		if look.text, ok = merged(look.had, f.config.values()); !ok || !isMapping {
			look.change = planewright.Change{Action: planewright.ActionBlocked, Fingerprint: fingerprint,
				Reason: f.path + " is no YAML mapping, so nothing can be merged into it; mend it, or leave out WithMerge to keep it as a backup"}
			return look, nil
		}
	}
	open := info.Mode().Perm()&0o077 != 0 && modesMatter
	look.same = bytes.Equal(look.had, look.text) && !open
	look.change = planewright.Change{Fingerprint: fingerprint, Action: planewright.ActionUpdate}
	switch {
	case look.same:
		look.change.Action = planewright.ActionNone
	case bytes.Equal(look.had, look.text):
		look.change.Diff = []planewright.FieldDiff{{Path: "mode", Before: fmt.Sprintf("%04o", info.Mode().Perm()), After: "0600"}}
	default:
		look.change.Diff = f.diff(had)
		look.change.Reason = "the file that is there is kept as " + filepath.Base(f.backup(look))
		if f.merge {
			look.change.Reason = "its other keys stay; the file as it is now is kept as " + filepath.Base(f.backup(look))
		}
	}
	return look, nil
}

// followed is the file that a path leads to: a link stays a link.
func followed(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", fileError(err)
	}
	return target, nil
}

// diff lists the keys that change. What other people's keys hold is not shown.
func (f ClientConfigFile) diff(had map[string]any) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	before, after := map[string]string{}, map[string]string{}
	var order []string
	for _, l := range leaves(f.config.values()) {
		after[l.path.String()] = fmt.Sprint(l.value)
		order = append(order, l.path.String())
	}
	for _, l := range leaves(had) {
		before[l.path.String()] = fmt.Sprint(l.value)
		if _, ours := after[l.path.String()]; !ours && !f.merge {
			order = append(order, l.path.String())
		}
	}
	slices.Sort(order)
	for _, path := range order {
		value, ours := after[path]
		switch {
		case !ours:
			diff = append(diff, planewright.FieldDiff{Path: path, Secret: true})
		case before[path] != value:
			diff = append(diff, planewright.FieldDiff{Path: path, Before: before[path], After: value})
		}
	}
	return diff
}

// backup is where the file that is there is kept: the first name that is free,
// or that has it already, from a run that was cut off.
func (f ClientConfigFile) backup(look fileLook) string {
	folder, name := filepath.Split(look.target)
	for n := 1; ; n++ {
		path := folder + "bak." + name
		if n > 1 {
			path = fmt.Sprintf("%sbak.%d.%s", folder, n, name)
		}
		had, err := os.ReadFile(path)
		if err != nil || bytes.Equal(had, look.had) {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				return path
			}
		}
	}
}

func (f ClientConfigFile) write(look fileLook) error {
	if look.change.Action == planewright.ActionBlocked {
		return fmt.Errorf("%s: %w", look.change.Reason, planewright.ErrConflict)
	}
	if look.had != nil && !bytes.Equal(look.had, look.text) {
		if err := replaceFile(f.backup(look), look.had); err != nil {
			return err
		}
	}
	return replaceFile(look.target, look.text)
}

// undo deletes the file if it is still as it was written.
func (f ClientConfigFile) undo(_ context.Context, run *planewright.Run) error {
	target, err := followed(f.path)
	if err != nil {
		return err
	}
	had, err := os.ReadFile(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fileError(err)
	}
	want, err := f.config.YAML()
	if err != nil {
		return err
	}
	if !bytes.Equal(had, want) {
		run.Keep(f.object(), "it holds more than was written to it; delete it yourself")
		return nil
	}
	return fileError(os.Remove(target))
}

func (f ClientConfigFile) render(context.Context, *planewright.Run) ([]planewright.File, error) {
	text, err := f.config.YAML()
	if err != nil {
		return nil, err
	}
	return []planewright.File{{Name: "client-config/" + filepath.Base(f.path), Data: text}}, nil
}

// merged sets the values in a YAML document, and leaves everything else in it
// as it is. It is not ok if the document has something else where a mapping
// should be: an error would show the line, which may hold a secret.
func merged(document []byte, values map[string]any) (text []byte, ok bool) {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(document, &root); err != nil {
		return nil, false
	}
	if root.Kind == 0 { // only comments
		root = yamlv3.Node{Kind: yamlv3.DocumentNode, Content: []*yamlv3.Node{{Kind: yamlv3.MappingNode}}}
	}
	changed, ok := setInto(root.Content[0], values)
	if !ok || !changed {
		return document, ok
	}
	var out bytes.Buffer
	encoder := yamlv3.NewEncoder(&out)
	encoder.SetIndent(2)
	ok = encoder.Encode(&root) == nil && encoder.Close() == nil
	return out.Bytes(), ok
}

// setInto sets values in a mapping, and reports whether anything changed. It
// is not ok if there is something else than a mapping.
func setInto(mapping *yamlv3.Node, values map[string]any) (changed, ok bool) {
	if mapping.Kind == yamlv3.AliasNode {
		mapping = mapping.Alias
	}
	if mapping.Kind != yamlv3.MappingNode {
		return false, false
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := -1
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if mapping.Content[i].Value == key {
				at = i + 1
			}
		}
		below, isMap := values[key].(map[string]any)
		if at >= 0 && isMap && mapping.Content[at].Tag != "!!null" {
			set, ok := setInto(mapping.Content[at], below)
			if !ok {
				return false, false
			}
			changed = changed || set
			continue
		}
		var value yamlv3.Node
		if value.Encode(values[key]) != nil {
			return false, false
		}
		switch {
		case at < 0:
			mapping.Content = append(mapping.Content, &yamlv3.Node{Kind: yamlv3.ScalarNode, Value: key}, &value)
			changed = true
		case !sameNode(mapping.Content[at], &value):
			value.LineComment, value.HeadComment, value.FootComment = mapping.Content[at].LineComment, mapping.Content[at].HeadComment, mapping.Content[at].FootComment
			mapping.Content[at] = &value
			changed = true
		}
	}
	return changed, true
}

// sameNode reports whether two nodes mean the same.
func sameNode(a, b *yamlv3.Node) bool {
	var left, right any
	if a.Decode(&left) != nil || b.Decode(&right) != nil {
		return false
	}
	return sameValue(left, right)
}
