package live

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxRecord is how much the API server takes in one Secret.
	maxRecord = 1 << 20
	// surelyFits is how big the parts of a record may be together without its
	// compressed form being measured: base64 on top makes 4 of 3.
	surelyFits = maxRecord * 3 / 4
)

// tooBig measures the record that Helm would write, so that a release that does
// not fit is refused before anything is written.
func tooBig(l *look) error {
	if l.made == nil {
		return nil
	}
	size := len(l.made.manifest)
	for _, h := range l.made.hooks {
		size += len(h.Manifest)
	}
	if size+chartSize(l.made.chart) <= surelyFits {
		return nil
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	err = json.NewEncoder(zip).Encode(&release.Release{
		Name: l.rel.Name, Namespace: l.rel.Namespace, Chart: l.made.chart, Config: l.rel.Values.Merge(nil),
		Manifest: l.made.manifest, Hooks: l.made.hooks, Info: &release.Info{}, Version: l.as.revision,
	})
	if err = errors.Join(err, zip.Close()); err != nil {
		return err
	}
	record := base64.StdEncoding.EncodedLen(packed.Len())
	if record <= maxRecord {
		return nil
	}
	return &callError{
		op: "record", object: fmt.Sprintf("chart %s %s", l.rel.Chart.Name(), l.rel.Chart.Version()),
		verdict: verdict{
			sentinel: planewright.ErrInvalid,
			hint: "Helm keeps chart, values and manifest in one Secret; leave out of the chart what it does not need (.helmignore: " +
				strings.Join(biggest(l.made.chart), ", ") + "), or install big CustomResourceDefinitions on their own",
		},
		err: fmt.Errorf("the release takes %d bytes compressed, the API server allows %d (manifest %d, chart %d uncompressed)",
			record, maxRecord, size, chartSize(l.made.chart)),
	}
}

// recordRefused recognises the API server's refusal of a record that is too big:
// an invalid Secret of Helm's, for its data.
func recordRefused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonInvalid || status.Status().Details == nil {
		return false
	}
	d := status.Status().Details
	return strings.HasPrefix(d.Name, "sh.helm.release.v1.") &&
		slices.ContainsFunc(d.Causes, func(c metav1.StatusCause) bool { return c.Field == "data" })
}

// chartSize is how much of a chart goes into a record: Helm leaves out the charts
// that it depends on.
func chartSize(ch *chart.Chart) int {
	size := len(ch.Schema)
	for _, f := range slices.Concat(ch.Templates, ch.Files) {
		size += len(f.Data)
	}
	return size
}

// biggest names the biggest files of a chart.
func biggest(ch *chart.Chart) []string {
	files := slices.Concat(ch.Templates, ch.Files)
	slices.SortFunc(files, func(a, b *chart.File) int { return len(b.Data) - len(a.Data) })
	var names []string
	for _, f := range files[:min(len(files), 3)] {
		names = append(names, fmt.Sprintf("%s %d bytes", f.Name, len(f.Data)))
	}
	return names
}
