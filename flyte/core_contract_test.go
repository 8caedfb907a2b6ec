package flyte

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// coreFacts is what this package knows about the chart.
func coreFacts(t *testing.T) Chart {
	t.Helper()
	facts, ok := V1_16_8.Chart(coreChart)
	require.True(t, ok)
	return facts
}

func TestWhatATemplateOfFlyteCoreReadsIsKnown(t *testing.T) {
	facts := coreFacts(t)
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, text := range templates(c) {
			for _, match := range valueInTemplate.FindAllStringSubmatch(text, -1) {
				path := splitPath(match[1])
				known := slices.ContainsFunc(facts.Values, func(v ChartValue) bool {
					return path.within(splitPath(v.Path)) || splitPath(v.Path).within(path)
				})
				assert.True(t, known || match[1] == "nameOverride" || match[1] == "forceNamespace", "templates/%s reads %s", name, match[1])
			}
		}
	})
}

func TestWhatIsKnownOfFlyteCoreIsReadByATemplate(t *testing.T) {
	facts := coreFacts(t)
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		all := ""
		for _, text := range templates(c) {
			all += text
		}
		for _, v := range facts.Values {
			path := splitPath(v.Path)
			last := regexp.QuoteMeta(path[len(path)-1])
			read := strings.Contains(all, ".Values."+v.Path) || regexp.MustCompile(`[.]`+last+`\b|"`+last+`"`).MatchString(all)
			assert.True(t, read, "no template reads %s", v.Path)
		}
	})
}

// everythingInPlanes is a deployment in which everything is said that can be.
func everythingInPlanes() Deployment {
	settings := NewPods().WithReplicas(3).
		WithResources(Resources{CPU: "1", Memory: "1Gi", EphemeralStorage: "1Gi"}, Resources{CPU: "2", Memory: "2Gi", EphemeralStorage: "2Gi"}).
		WithPlacement(NewPlacement().WithNodeLabel("pool", "platform").WithTolerations(Toleration{Operator: "Exists"}).
			WithPriorityClass("high").WithAffinity(kube.Values{"nodeAffinity": map[string]any{}}))
	alone := NewPods().WithResources(Resources{CPU: "1"}, Resources{CPU: "2"}).WithPlacement(NewPlacement().WithNodeLabel("pool", "platform"))
	d := planes().
		WithStorage(S3Compatible("acme-flyte", "https://minio.acme.internal").WithUserDataBucket("acme-flyte-data").
			WithRegion("eu-1").WithKeys("flyte", planewright.SecretValue("s3cr3t"))).
		WithDatabase(Postgres("db.acme.internal", "flyteadmin").WithUser("flyte").WithPort(6432).WithTLS(TLSVerifyFull).
			WithRootCA(testCertificate).WithPassword(planewright.SecretValue("hunter2"))).
		WithDomains("development", "production").
		WithNamespaceMapping("flyte-{{ project }}-{{ domain }}").
		WithResourceTemplate("010_limits.yaml", "apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: limits\n  namespace: '{{ namespace }}'\n").
		WithTemplateVariable("quotaCPU", "32").
		WithImageRegistry("registry.acme.example").
		WithPullSecrets("registry").
		WithLogLinks(CloudWatchLogs("us-east-1", "main"))
	control := d.control.WithExecution("controlplane").WithCatalog(InternalLoadBalancer())
	for _, c := range []Component{FlyteAdmin, DataCatalog, FlyteConsole} {
		control = control.WithPods(c, settings)
	}
	for _, c := range []Component{FlyteScheduler, SyncResources, PodWebhook} {
		control = control.WithPods(c, alone)
	}
	return d.WithControlPlane(control).
		WithDataplanes(NewDataplane("dp-1", "one").WithIdentity(AWSRole(dataRole)).WithPods(FlytePropeller, settings).WithPods(PodWebhook, alone)).
		WithLabelMap(NewLabelMap().WithLabel("cpu", Weight("dp-1", 1)).WithDefault("cpu"))
}

// inPlanesOnGoogle is planes on Google Cloud.
func inPlanesOnGoogle() Deployment {
	d := planes().
		WithStorage(GCS("acme-flyte", "acme-ml")).
		WithUserIdentity(GCPServiceAccount("flyte-user@acme-ml.iam.gserviceaccount.com")).
		WithDataplanes(
			NewDataplane("dp-1", "one").WithIdentity(GCPServiceAccount("flyte-data@acme-ml.iam.gserviceaccount.com")),
			NewDataplane("dp-2", "two").WithIdentity(GCPServiceAccount("flyte-data@acme-ml.iam.gserviceaccount.com")))
	return d.WithControlPlane(d.control.WithIngress(NGINX("flyte-tls")).WithIdentity(GCPServiceAccount("flyte-control@acme-ml.iam.gserviceaccount.com")))
}

func TestEveryTypedValueIsReadByFlyteCore(t *testing.T) {
	facts := coreFacts(t)
	in := inputs{database: "1", storage: "1", auth: "1", credentials: "1", catalog: "lb.example:89", endpoints: map[string]string{}}
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{"everything": everythingInPlanes(), "login": planes().WithAuth(login()), "plugins": planes().WithPlugins(Spark().WithConfig(kube.Values{"spark-config-default": []any{}}), Ray(), Dask(), Connector("a")).WithMonitoring(ServiceMonitors(map[string]string{"release": "prometheus"})), "other login": planes().WithAuth(otherLogin()), "AWS": planes(), "GCP": inPlanesOnGoogle()} {
			require.NoError(t, d.Validate(), name)
			for _, v := range d.views() {
				l, err := v.layer(v.recipe, c, facts, in)
				require.NoError(t, err)
				typed := v.recipe.typed(l.overlay, l.defaults, in)
				for _, path := range unread(typed, facts) {
					value, _ := typed.Get(path.String())
					assert.Nil(t, value, "%s, %s: no template reads %s", name, v.id, path)
				}
			}
		}
	})
}

func TestNoPlaceholderIsLeftInAnyPlane(t *testing.T) {
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{"everything": everythingInPlanes(), "AWS": planes(), "GCP": inPlanesOnGoogle()} {
			for i, v := range d.views() {
				r := renderPlane(t, c, d, i)
				assert.Empty(t, placeholdersIn("x", r.objects), "%s, %s", name, v.id)
				assert.NotContains(t, r.text(), "hunter2", "%s, %s", name, v.id)
				assert.NotContains(t, r.text(), "s3cr3t", "%s, %s", name, v.id)
				assert.NotContains(t, r.text(), "foobar", "%s, %s", name, v.id)
				assert.NotContains(t, r.text(), ".Values.", "%s, %s", name, v.id)
			}
		}
	})
}

func TestThePublishedFlyteCoreIsTheOneThatIsPinned(t *testing.T) {
	facts := coreFacts(t)
	c := publishedChart(t, coreChart)
	assert.Equal(t, facts.Version, c.Version())
	assert.Equal(t, facts.Digest, c.Digest())
}

func TestNoPodAsksForMoreThanItsLimit(t *testing.T) {
	greedy := planes()
	greedy = greedy.WithControlPlane(greedy.control.WithPods(FlyteAdmin, NewPods().WithResources(Resources{CPU: "2"}, Resources{})))
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{"AWS": planes(), "GCP": inPlanesOnGoogle(), "requests alone": greedy} {
			for i := range d.views() {
				for _, obj := range renderPlane(t, c, d, i).objects {
					if obj.GetKind() != "Deployment" {
						continue
					}
					containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
					for _, container := range containers {
						m, _ := asMap(container)
						resources, _ := asMap(m["resources"])
						limits := amounts(resources, "limits")
						for resourceName, request := range amounts(resources, "requests") {
							limit, ok := limits[resourceName]
							if ok {
								assert.LessOrEqual(t, milli(request), milli(limit), "%s: %s %s", name, obj.GetName(), resourceName)
							}
						}
					}
				}
			}
		}
	})
}

func milli(amount string) int64 {
	quantity := resource.MustParse(amount)
	return quantity.MilliValue()
}
