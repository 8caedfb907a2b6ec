package flyte

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Monitoring has the Prometheus operator collect the metrics of Flyte's
// components. Make one with [ServiceMonitors].
type Monitoring struct {
	set      bool
	labels   map[string]string
	interval time.Duration
}

// DefaultScrapeInterval is how often metrics are collected unless
// [Monitoring.WithInterval] says otherwise.
const DefaultScrapeInterval = time.Minute

// ServiceMonitors makes an object of kind ServiceMonitor for each component that
// has metrics, with the labels by which a Prometheus of the operator's finds them:
// {"release": "prometheus"} for the chart kube-prometheus-stack.
//
// The operator's definitions must be in each cluster; they are asked for before an
// install. The chart flyte-binary has no ServiceMonitors.
func ServiceMonitors(labels map[string]string) Monitoring {
	return Monitoring{set: true, labels: maps.Clone(labels), interval: DefaultScrapeInterval}
}

// WithInterval sets how often metrics are collected. A collection may take half of that.
func (m Monitoring) WithInterval(interval time.Duration) Monitoring {
	m.interval = interval
	return m
}

// WithMonitoring has the metrics of all components collected, in every plane.
func (d Deployment) WithMonitoring(monitoring Monitoring) Deployment {
	d.monitoring = monitoring
	return d
}

func (m Monitoring) validate(p *planewright.Problems, inPlanes bool) {
	if !m.set {
		return
	}
	if !inPlanes {
		p.Add("monitoring", "", "the chart flyte-binary has no ServiceMonitors", "make one of your own that selects the release's Service, or use NewDeployment")
	}
	if m.interval < 2*time.Second || m.interval%time.Second != 0 {
		p.Add("monitoring.interval", m.interval.String(), "an interval is whole seconds, two or more", "leave it out to use "+DefaultScrapeInterval.String())
	}
	for _, key := range slices.Sorted(maps.Keys(m.labels)) {
		for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(m.labels[key])...) {
			p.Add("monitoring.labels", key+"="+m.labels[key], problem, "use the labels that the Prometheus object's serviceMonitorSelector names")
		}
	}
}

// setCore sets the monitors of components of flyte-core.
func (m Monitoring) setCore(v *layer, defaults kube.Values, components ...string) {
	if !m.set {
		return
	}
	labels := map[string]any{}
	for key, value := range m.labels {
		labels[key] = value
	}
	for _, c := range components {
		if _, ok := defaults.Get(c + ".serviceMonitor"); !ok {
			continue // An older chart has none for it.
		}
		if _, ok := defaults.Get(c + ".service.enabled"); ok {
			v.set(c+".service.enabled", true) // A monitor selects a Service.
		}
		v.set(c+".serviceMonitor", map[string]any{"enabled": true, "labels": labels,
			"interval": seconds(m.interval), "scrapeTimeout": seconds(m.interval / 2)})
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%ds", int(d/time.Second)) }

// probeMonitoring looks for the Prometheus operator: without its definition a
// release with a ServiceMonitor cannot be installed.
func (b binding) probeMonitoring(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	kind := schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
	served, err := b.cluster.Facts.Serves(ctx, kind)
	if err != nil || served[kind] {
		return nil, err
	}
	return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeMonitoring,
		Cause: fmt.Sprintf("cluster %s has no ServiceMonitor (%s)", b.cluster.Name, kind.GroupVersion()),
		Fix:   "install the Prometheus operator or its definitions there, or leave WithMonitoring out"}}, nil
}
