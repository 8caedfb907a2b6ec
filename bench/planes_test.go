package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
)

// planes are a control plane's cluster and n data planes' in memory, with the
// latencies of a network, and an AWS account.
type planes struct {
	fleet *kubefake.Fleet
	env   flyte.Env
	n     int
}

func newPlanes(tb testing.TB, n int, latency time.Duration) planes {
	tb.Helper()
	p := planes{n: n}
	fleet := kubefake.NewFleet().Add("control", kubefake.WithLatency(latency), kubefake.WithLoadBalancers(latency))
	tb.Cleanup(fleet.Close)
	names := []string{"control"}
	for i := range n {
		name := fmt.Sprintf("cluster-%d", i)
		names = append(names, name)
		fleet.Add(name, kubefake.WithLatency(latency))
	}
	aws := eksfake.New("123456789012", "us-east-1", names...)
	aws.SetLatency(latency)
	aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
	p.fleet = fleet
	p.env = flyte.NewEnv().WithCharts(charts())
	fake := adminfake.New(adminfake.WithLatency(latency))
	p.env = p.env.WithAdmin(func(context.Context) (*admin.Client, func(), error) {
		client, err := fake.Client()
		return client, nil, err
	})
	for _, name := range names {
		p.env = p.env.WithClusters(fleet.Cluster(name)).WithCloud(name, aws.Account().Cluster(name))
	}
	return p
}

// deployment has the first n data planes. Beyond a few, one trust policy does
// not hold them all, so that their pods have the identity of their nodes.
func (p planes) deployment(n int) flyte.Deployment {
	d := flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.example", "flyteadmin").WithPassword(planewright.SecretValue("p"))).
		WithProjects(flyte.NewProject("team1")).
		WithUserIdentity(flyte.NodeIdentity()).
		WithControlPlane(flyte.NewControlPlane("control").WithHost("flyte.acme.example").
			WithIngress(flyte.ALB("arn:aws:acm:us-east-1:123456789012:certificate/a")).WithCatalog(flyte.CatalogAt("catalog.acme.internal:89")))
	labels := flyte.NewLabelMap()
	for i := range n {
		name := fmt.Sprintf("dp-%d", i)
		d = d.WithDataplanes(flyte.NewDataplane(name, fmt.Sprintf("cluster-%d", i)).WithIdentity(flyte.NodeIdentity()))
		labels = labels.WithLabel(name, flyte.Weight(name, 1))
	}
	return d.WithLabelMap(labels.WithDefault("dp-0"))
}

// criticalPath is the longest way through the steps that run under the lock,
// each as long as it took: no install of these steps could have been shorter.
func criticalPath(stack planewright.Stack, report *planewright.Report) time.Duration {
	took := map[string]time.Duration{}
	for _, s := range locked(stack, report) {
		took[s.ID] = s.Ended.Sub(s.Started)
	}
	ends := map[string]time.Duration{}
	needs := map[string][]string{}
	for _, s := range stack.Steps() {
		needs[s.ID] = s.Needs
	}
	var end func(id string) time.Duration
	end = func(id string) time.Duration {
		if e, ok := ends[id]; ok {
			return e
		}
		var after time.Duration
		for _, need := range needs[id] {
			after = max(after, end(need))
		}
		ends[id] = after + took[id]
		return ends[id]
	}
	var longest time.Duration
	for id := range needs {
		longest = max(longest, end(id))
	}
	return longest
}

// locked are the steps that ran under the lock. The one before it makes the
// lock's namespace; then the lock is taken and everything is looked at again.
func locked(stack planewright.Stack, report *planewright.Report) []planewright.StepReport {
	var list []planewright.StepReport
	for _, s := range stack.Steps() {
		if step, ok := report.Step(s.ID); ok && !s.Unlocked && !step.Started.IsZero() {
			list = append(list, step)
		}
	}
	return list
}

// BenchmarkMakespan compares the time of an install, from its first step to its
// last, with its critical path: in virtual time, with 20 ms for every call.
func BenchmarkMakespan(b *testing.B) {
	for _, n := range []int{2, 10, 100, 1000} {
		b.Run(fmt.Sprintf("dataplanes=%d", n), func(b *testing.B) {
			if n > 100 && testing.Short() {
				b.Skip("takes minutes")
			}
			var makespan, path time.Duration
			for b.Loop() {
				inBubble(b, func(tb testing.TB) {
					tb.Helper()
					p := newPlanes(tb, n, 20*time.Millisecond)
					stack := p.deployment(n).On(p.env)
					report, err := planewright.Install(tb.Context(), stack)
					require.NoError(tb, err)
					var first, last time.Time
					for _, s := range locked(stack, report) {
						if first.IsZero() || s.Started.Before(first) {
							first = s.Started
						}
						if s.Ended.After(last) {
							last = s.Ended
						}
					}
					makespan, path = last.Sub(first), criticalPath(stack, report)
				})
			}
			b.ReportMetric(makespan.Seconds(), "makespan-s")
			b.ReportMetric(path.Seconds(), "path-s")
			b.ReportMetric(float64(makespan)/float64(path), "makespan/path")
		})
	}
}

// inBubble runs a function in virtual time.
func inBubble(b *testing.B, f func(testing.TB)) {
	b.Helper()
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: b.Name(), F: func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t) }) },
	}})
	if !ok {
		b.Fatal("the install in virtual time failed")
	}
}

// BenchmarkPlanPlanes plans n data planes, before they are installed and after,
// and relates the time for each to rendering its chart once.
func BenchmarkPlanPlanes(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, converged := range []bool{false, true} {
			b.Run(fmt.Sprintf("dataplanes=%d/converged=%v", n, converged), func(b *testing.B) {
				p := newPlanes(b, n, 0)
				stack := p.deployment(n).On(p.env)
				if converged {
					_, err := planewright.Install(b.Context(), stack)
					require.NoError(b, err)
				}
				rendering := renderCore(b)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				cpu := cpuTime(b)
				for b.Loop() {
					plan, err := planewright.Plan(b.Context(), stack)
					require.NoError(b, err)
					require.Equal(b, !converged, plan.HasChanges())
				}
				each := (cpuTime(b) - cpu) / time.Duration(b.N*n)
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(each)/float64(rendering), "renderings/dataplane")
				b.ReportMetric(float64(after.Sys)/(1<<20), "MiB")
			})
		}
	}
}

// renderCore is how much time of a processor Helm's engine takes to parse and
// render the chart of a data plane.
func renderCore(b *testing.B) time.Duration {
	b.Helper()
	chart, err := charts().Chart(b.Context(), kube.ChartRef{Name: "flyte-core", Version: "v1.16.8"})
	require.NoError(b, err)
	var files []*loader.BufferedFile
	for _, f := range chart.Files() {
		files = append(files, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	values := map[string]any{}
	for _, name := range []string{"values-eks.yaml", "values-dataplane.yaml"} {
		data, _ := chart.File(name)
		overlay, err := kube.ParseValues(data)
		require.NoError(b, err)
		values = kube.Values(values).Merge(overlay)
	}
	const rounds = 20
	cpu := cpuTime(b)
	for range rounds {
		c, err := loader.LoadFiles(files)
		require.NoError(b, err)
		v, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "flyte-core-data", Namespace: "flyte", IsInstall: true}, chartutil.DefaultCapabilities)
		require.NoError(b, err)
		_, err = engine.Render(c, v)
		require.NoError(b, err)
	}
	return (cpuTime(b) - cpu) / rounds
}

// cpuTime is how much time of processors this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkAddDataplane adds one data plane to n, and counts what is written
// to the clusters of the others.
func BenchmarkAddDataplane(b *testing.B) {
	const n = 100
	others := 0
	for b.Loop() {
		b.StopTimer()
		p := newPlanes(b, n+1, 0)
		_, err := planewright.Install(b.Context(), p.deployment(n).On(p.env))
		require.NoError(b, err)
		before := make([]int, n)
		for i := range n {
			before[i] = p.fleet.Writes(fmt.Sprintf("cluster-%d", i))
		}
		b.StartTimer()
		_, err = planewright.Install(b.Context(), p.deployment(n+1).On(p.env))
		require.NoError(b, err)
		for i := range n {
			others += p.fleet.Writes(fmt.Sprintf("cluster-%d", i)) - before[i]
		}
	}
	b.ReportMetric(float64(others)/float64(b.N), "writes-to-others/op")
}
