package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/planewright/planewright/kube"
)

// renderer is part of what a record's digest stands for: change it whenever
// this package renders another way.
const renderer = "helm v3.22.0, planewright 1"

// traits are what a chart's templates look at beside the values.
type traits struct {
	revision bool // which revision it is, whether it is the first
	apis     bool // what the cluster serves
	lookup   bool // objects in the cluster
}

// traitsOf searches the templates for words. To find one that is not used does no harm.
func traitsOf(ch *kube.Chart) traits {
	var t traits
	for _, f := range ch.Files() {
		switch {
		case strings.HasSuffix(f.Name, ".tgz"):
			return traits{revision: true, apis: true, lookup: true} // a chart inside, unread
		case !strings.Contains(f.Name, "templates/") && !strings.HasSuffix(f.Name, "values.yaml"):
			continue
		}
		t.revision = t.revision || bytes.Contains(f.Data, []byte("Revision")) || bytes.Contains(f.Data, []byte("IsInstall")) || bytes.Contains(f.Data, []byte("IsUpgrade"))
		t.apis = t.apis || bytes.Contains(f.Data, []byte("Capabilities"))
		t.lookup = t.lookup || bytes.Contains(f.Data, []byte("lookup"))
	}
	return t
}

// inputs is a hash of all that a revision is rendered from, nil if that cannot
// be told.
func (r *releases) inputs(ctx context.Context, rel kube.Release, as renderAs, t traits) ([]byte, error) {
	if t.lookup {
		return nil, nil
	}
	values, err := json.Marshal(rel.Values.Merge(nil))
	if err != nil {
		return nil, chartError(rel.Chart, fmt.Errorf("values cannot be written as JSON: %w", err))
	}
	version, err := r.c.apis.knownVersion(ctx)
	if err != nil {
		return nil, err
	}
	facts := []string{renderer, rel.Namespace, rel.Name, strconv.FormatBool(rel.DropCRDs), version.GitVersion, chartHash(rel.Chart), string(values)}
	if t.revision {
		facts = append(facts, strconv.Itoa(as.revision), strconv.FormatBool(as.install))
	}
	if t.apis {
		caps, err := r.capabilities(ctx, nil)
		if err != nil {
			return nil, err
		}
		facts = append(facts, caps.APIVersions...)
	}
	// As JSON, so that no fact can run into the next.
	data, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return sum[:], nil
}

// chartHash is the digest of the archive, or a hash of the files if there is none.
func chartHash(ch *kube.Chart) string {
	if ch.Digest() != "" {
		return ch.Digest()
	}
	sum := sha256.New()
	for _, f := range ch.Files() {
		fmt.Fprintf(sum, "%q %d\n", f.Name, len(f.Data))
		sum.Write(f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
