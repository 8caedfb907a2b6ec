package kubeflow_test

import (
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// foreignCA is an authority of somebody else's, written without a newline at its end.
func foreignCA() string {
	text := string(kubeflowtest.Certificate("idp.acme.example", 7))
	return text[:len(text)-1]
}

// foreignProviders are two providers of somebody else's.
func foreignProviders() []any {
	return []any{
		map[string]any{"name": "otel", "opentelemetry": map[string]any{"service": "collector.observability.svc.cluster.local", "port": int64(4317)}},
		map[string]any{"name": "other-sso", "envoyExtAuthzHttp": map[string]any{"service": "sso.sso.svc.cluster.local", "port": int64(8080)}},
	}
}

// edit changes an object as somebody else would.
func edit(t *testing.T, w *kubeflowtest.World, cluster string, ref kube.Ref, change func(*unstructured.Unstructured)) {
	t.Helper()
	obj, err := w.Cluster(cluster).Objects.Get(t.Context(), ref)
	require.NoError(t, err)
	change(obj)
	_, err = w.Cluster(cluster).Objects.Update(t.Context(), obj)
	require.NoError(t, err)
	settle()
}

func istioRef() kube.Ref {
	return kube.Ref{APIVersion: "sailoperator.io/v1", Kind: "Istio", Name: "default"}
}

func meshRef() kube.Ref {
	return kube.Ref{APIVersion: "asm.alauda.io/v1alpha1", Kind: "ServiceMesh", Namespace: "cpaas-system", Name: "workload"}
}

func spec(t *testing.T, w *kubeflowtest.World, cluster string, ref kube.Ref) map[string]any {
	t.Helper()
	obj, err := w.Cluster(cluster).Objects.Get(t.Context(), ref)
	require.NoError(t, err)
	return obj.Object["spec"].(map[string]any)
}

func TestAMeshKeepsForeignProvidersAndAuthoritiesByteForByte(t *testing.T) {
	meshes := map[string]struct {
		option []kubeflowtest.Option
		mesh   kubeflow.Mesh
		on     string
		ref    kube.Ref
		fill   func(*unstructured.Unstructured)
		// ca and providers read the settings.
		ca, providers func(map[string]any) any
	}{
		"v2": {nil, kubeflow.ServiceMeshV2(), "workload", istioRef(), func(o *unstructured.Unstructured) {
			o.Object["spec"].(map[string]any)["values"] = map[string]any{
				"pilot":      map[string]any{"jwksResolverExtraRootCA": foreignCA(), "env": map[string]any{"PILOT_ENABLE_AMBIENT": "true"}},
				"meshConfig": map[string]any{"extensionProviders": foreignProviders(), "accessLogFile": "/dev/stdout"},
			}
		}, func(s map[string]any) any {
			v, _, _ := unstructured.NestedString(s, "values", "pilot", "jwksResolverExtraRootCA")
			return v
		}, func(s map[string]any) any {
			v, _, _ := unstructured.NestedSlice(s, "values", "meshConfig", "extensionProviders")
			return v
		}},
		"v1": {[]kubeflowtest.Option{kubeflowtest.WithMeshV1()}, kubeflow.ServiceMeshV1(), "global", meshRef(), func(o *unstructured.Unstructured) {
			o.Object["spec"].(map[string]any)["overlays"] = []any{
				map[string]any{"kind": "Other", "patches": []any{map[string]any{"path": "spec.x", "value": "y"}}},
				map[string]any{"kind": "IstioOperator", "patches": []any{
					map[string]any{"path": "spec.values.pilot.jwksResolverExtraRootCA", "value": foreignCA()},
					map[string]any{"path": "spec.meshConfig.extensionProviders", "value": foreignProviders()},
				}},
			}
		}, func(s map[string]any) any { return patch(s, "spec.values.pilot.jwksResolverExtraRootCA") },
			func(s map[string]any) any { return patch(s, "spec.meshConfig.extensionProviders") }},
	}
	for name, tt := range meshes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.option...)
				edit(t, w, tt.on, tt.ref, tt.fill)
				before := spec(t, w, tt.on, tt.ref)

				reason := blocked(t, w, bare().WithMesh(tt.mesh), "kubeflow/ml/mesh")
				assert.Contains(t, reason, "is set already and trusts SHA-256 ")
				assert.Contains(t, reason, "append it yourself, or by WithTrustedCAAppended")
				assert.Equal(t, before, spec(t, w, tt.on, tt.ref))

				stack := bare().WithMesh(tt.mesh.WithTrustedCAAppended())
				install(t, w, stack)
				after := spec(t, w, tt.on, tt.ref)
				assert.Equal(t, foreignCA()+"\n"+string(kubeflowtest.PlatformCertificate()), tt.ca(after))
				providers := tt.providers(after).([]any)
				assert.Equal(t, foreignProviders(), providers[:2])
				require.Len(t, providers, 3)
				assert.Equal(t, "oauth2-proxy-kubeflow", providers[2].(map[string]any)["name"])

				_, err := stack.Uninstall(t.Context(), w.Env())
				require.NoError(t, err)
				assert.Equal(t, before, spec(t, w, tt.on, tt.ref))
				live, err := w.Cluster(tt.on).Objects.Get(t.Context(), tt.ref)
				require.NoError(t, err)
				assert.Empty(t, live.GetAnnotations())
			})
		})
	}
}

// patch reads the value of a patch in the overlay that counts.
func patch(spec map[string]any, path string) any {
	overlays, _, _ := unstructured.NestedSlice(spec, "overlays")
	for _, o := range overlays {
		patches, _, _ := unstructured.NestedSlice(o.(map[string]any), "patches")
		for _, p := range patches {
			if p.(map[string]any)["path"] == path {
				return p.(map[string]any)["value"]
			}
		}
	}
	return nil
}

func TestTheLoginsProviderIsAsItsPoliciesNeedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		assert.Equal(t, map[string]any{
			"version": "v1.30.1", "namespace": "istio-system",
			"values": map[string]any{
				"pilot": map[string]any{
					"env":                     map[string]any{"PILOT_JWT_PUB_KEY_REFRESH_INTERVAL": "1m"},
					"jwksResolverExtraRootCA": string(kubeflowtest.PlatformCertificate()),
				},
				"meshConfig": map[string]any{"extensionProviders": []any{map[string]any{
					"name": "oauth2-proxy-kubeflow",
					"envoyExtAuthzHttp": map[string]any{
						"service":                         "oauth2-proxy.kubeflow-oauth2-proxy.svc.cluster.local",
						"port":                            int64(80),
						"headersToDownstreamOnDeny":       []any{"content-type", "set-cookie"},
						"headersToUpstreamOnAllow":        []any{"authorization", "path", "x-auth-request-user", "x-auth-request-email", "x-auth-request-access-token"},
						"includeAdditionalHeadersInCheck": map[string]any{"X-Auth-Request-Redirect": "http://%REQ(Host)%%REQ(:PATH)%"},
						"includeRequestHeadersInCheck":    []any{"authorization", "cookie", "accept"},
					},
				}}},
			},
		}, spec(t, w, "workload", istioRef()))
	})
}

func TestProvidersInEffectAreCarriedOverIntoAnOverlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithMeshV1(), kubeflowtest.WithWorkloadObjects(
			manifest("v1", "ConfigMap", "istio-system", "istio-1-22", map[string]any{"data": map[string]any{
				"mesh": "extensionProviders:\n- name: otel\n  opentelemetry:\n    port: 4317\n    service: collector\n"}})))
		otel := map[string]any{"name": "otel", "opentelemetry": map[string]any{"port": int64(4317), "service": "collector"}}
		stack := bare().WithMesh(kubeflow.ServiceMeshV1())
		install(t, w, stack)
		providers := patch(spec(t, w, "global", meshRef()), "spec.meshConfig.extensionProviders").([]any)
		require.Len(t, providers, 2)
		assert.Equal(t, otel, providers[0], "a list in the overlay hides what is not in it")
		_, err := stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.NotContains(t, spec(t, w, "global", meshRef()), "overlays")

		install(t, w, stack)
		edit(t, w, "global", meshRef(), func(o *unstructured.Unstructured) {
			overlays, _, _ := unstructured.NestedSlice(o.Object, "spec", "overlays")
			for _, p := range overlays[0].(map[string]any)["patches"].([]any) {
				if p := p.(map[string]any); p["path"] == "spec.meshConfig.extensionProviders" {
					p["value"] = append(p["value"].([]any), map[string]any{"name": "later", "zipkin": map[string]any{"port": int64(9411)}})
				}
			}
			require.NoError(t, unstructured.SetNestedSlice(o.Object, overlays, "spec", "overlays"))
		})
		_, err = stack.Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		providers = patch(spec(t, w, "global", meshRef()), "spec.meshConfig.extensionProviders").([]any)
		assert.Equal(t, []string{"otel", "later"}, []string{providers[0].(map[string]any)["name"].(string), providers[1].(map[string]any)["name"].(string)},
			"what somebody has added since is kept, and with it what it would hide")
	})
}

func TestAProviderOfTheSameNameThatIsAnotherOneIsAConflictThatShowsBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		edit(t, w, "workload", istioRef(), func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "oauth2-proxy-kubeflow", "envoyExtAuthzHttp": map[string]any{"service": "proxy.elsewhere", "port": int64(80)}}},
				"spec", "values", "meshConfig", "extensionProviders")
		})
		reason := blocked(t, w, bare(), "kubeflow/ml/mesh")
		assert.Contains(t, reason, "service: proxy.elsewhere")
		assert.Contains(t, reason, "service: oauth2-proxy.kubeflow-oauth2-proxy.svc.cluster.local")
	})
}

func TestARenewedLoginCertificateReplacesTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		report := install(t, w, bare())
		first, err := bare().LoginFingerprint().From(report)
		require.NoError(t, err)
		assert.Len(t, first, 64)

		renewed := kubeflowtest.Certificate("acp.acme.example", 2)
		edit(t, w, "global", kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "cpaas-system", Name: "dex.tls"}, func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, encoded(renewed), "data", "tls.crt")
		})
		report = install(t, w, bare())
		assert.Equal(t, []string{"kubeflow/ml/mesh"}, report.Changed())
		ca, _, _ := unstructured.NestedString(spec(t, w, "workload", istioRef()), "values", "pilot", "jwksResolverExtraRootCA")
		assert.Equal(t, string(renewed), ca)
		second, err := bare().LoginFingerprint().From(report)
		require.NoError(t, err)
		assert.NotEqual(t, first, second)
	})
}

func TestAnIntervalThatIsSetStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		edit(t, w, "workload", istioRef(), func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, "20m", "spec", "values", "pilot", "env", "PILOT_JWT_PUB_KEY_REFRESH_INTERVAL")
		})
		found := findings(t, w, bare(), kubeflow.CodeMesh)
		require.Len(t, found, 1)
		assert.Contains(t, found[0].Cause, "is 20m and stays")
		install(t, w, bare())
		_, err := bare().Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"pilot": map[string]any{"env": map[string]any{"PILOT_JWT_PUB_KEY_REFRESH_INTERVAL": "20m"}}},
			spec(t, w, "workload", istioRef())["values"])
	})
}

func TestTheMeshIsChosenByItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Add("workload", manifest("sailoperator.io/v1", "Istio", "", "second", map[string]any{"spec": map[string]any{"version": "v1.30.1", "namespace": "istio-system", "values": map[string]any{}}}))
		assert.Equal(t, "cluster workload has several meshes: default, second; say which one by WithMesh(kubeflow.ServiceMeshV2().WithIstio(…))", blocked(t, w, bare(), "kubeflow/ml/mesh"))
		assert.Empty(t, blocked(t, w, bare().WithMesh(kubeflow.ServiceMeshV2().WithIstio("second")), "kubeflow/ml/mesh"))
		assert.Equal(t, "cluster workload has no Istio third; it has default, second; install the service mesh first, or name the one there is",
			blocked(t, w, bare().WithMesh(kubeflow.ServiceMeshV2().WithIstio("third")), "kubeflow/ml/mesh"))
	})
}

// legacy is a webhook of a service mesh of version 1.
func legacy(kind, name, service string) *unstructured.Unstructured {
	return manifest("admissionregistration.k8s.io/v1", kind, "", name, map[string]any{"webhooks": []any{map[string]any{
		"name": "rev.validation.istio.io", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
		"clientConfig": map[string]any{"service": map[string]any{"name": service, "namespace": "istio-system"}}}}})
}

func TestWebhooksOfVersion1AreDeletedOnRequestAndSavedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithWorkloadObjects(
			legacy("ValidatingWebhookConfiguration", "istiod-default-validator", "istiod-1-22"),
			legacy("MutatingWebhookConfiguration", "istio-sidecar-injector-1-22", "istiod-1-22"),
			legacy("MutatingWebhookConfiguration", "istio-revision-tag-default", "istiod"),
			manifest("v1", "Namespace", "", "legacy", map[string]any{"metadata": map[string]any{"name": "legacy", "labels": map[string]any{"istio.io/rev": "1-22"}}})))
		found := findings(t, w, bare(), kubeflow.CodeMeshWebhook)
		require.Len(t, found, 2, "the third one is version 2's own")
		assert.Equal(t, planewright.SeverityWarning, found[0].Severity)
		assert.Equal(t, "kubectl delete validatingwebhookconfiguration istiod-default-validator, or have it done by WithLegacyWebhooksDeleted", found[0].Fix)

		stack := bare().WithMesh(kubeflow.ServiceMeshV2().WithLegacyWebhooksDeleted())
		assert.Contains(t, blocked(t, w, stack, "kubeflow/ml/mesh-webhooks"), "istiod-default-validator serves the namespaces legacy; move them to the other mesh first")
		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(), kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: "legacy"}, kube.DeleteOptions{}))
		settle()
		install(t, w, stack)
		assert.Empty(t, names(w, "workload", "ValidatingWebhookConfiguration"))
		assert.Equal(t, []string{"istio-revision-tag-default"}, names(w, "workload", "MutatingWebhookConfiguration"))
		backup := get(t, w, "v1", "ConfigMap", "kfbase-operator", "planewright-kubeflow-ml-webhooks")
		data := field(t, backup, "data").(map[string]any)
		assert.Contains(t, data["mutatingwebhookconfiguration.istio-sidecar-injector-1-22.yaml"], "name: istiod-1-22")
		assert.Contains(t, data, "validatingwebhookconfiguration.istiod-default-validator.yaml")
	})
}
