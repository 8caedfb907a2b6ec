package kubeflow

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

func testCertificate(tb testing.TB) certificate {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"acp.acme.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(tb, err)
	login, _, err := readCertificates(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	require.NoError(tb, err)
	return login
}

// Whatever others have put into a mesh: it is there after a merge, in its order,
// a second merge changes nothing, and an uninstall leaves the mesh as it was.
func FuzzMeshMerge(f *testing.F) {
	login := testCertificate(f)
	for _, v1 := range []bool{false, true} {
		f.Add(v1, "", "", "")
		f.Add(v1, "20m", "not a certificate", "- name: otel\n  opentelemetry: {port: 4317}\n- name: sso\n")
		f.Add(v1, "1m", login.pem, "- name: oauth2-proxy-kubeflow\n")
		f.Add(v1, "", " \n", "[1, null, {name: 3}]")
	}
	f.Fuzz(func(t *testing.T, v1 bool, interval, ca, providers string) {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Mesh", "spec": map[string]any{"version": "v1.30.1"}}}
		doc := meshDocument(istioDocument{obj})
		if v1 {
			doc = overlayDocument{obj}
		}
		if interval != "" {
			doc.set(meshInterval, interval)
		}
		if ca != "" {
			doc.set(meshCA, ca)
		}
		var parsed map[string]any
		if yaml.Unmarshal([]byte("list:\n"+providers), &parsed) == nil {
			if parsed, err := plain(parsed); err == nil && parsed["list"] != nil {
				doc.set(meshProviders, parsed["list"])
			}
		}
		before := obj.DeepCopy()
		foreign, _ := doc.get(meshProviders).([]any)

		first := meshMerge{doc: doc, appendCA: true}
		first.merge(login)
		if first.conflict != "" {
			return // nothing is written then
		}
		assert.True(t, trusts(doc.get(meshCA).(string), login))
		assert.True(t, strings.HasPrefix(doc.get(meshCA).(string), ca))
		after := doc.get(meshProviders).([]any)
		assert.Equal(t, slices.Concat([]any{nil}, foreign), slices.Concat([]any{nil}, after[:len(foreign)]), "others stay, in their order")
		assert.True(t, sameProvider(after[providerAt(after)]))

		note := first.note.text()
		second := meshMerge{doc: doc, note: readMeshNote(note), appendCA: true}
		second.merge(login)
		assert.Empty(t, second.diff)
		assert.Equal(t, note, second.note.text())

		undo := meshMerge{doc: doc, note: readMeshNote(note)}
		undo.unmerge()
		assert.Equal(t, before.Object, obj.Object)
	})
}

// Any address gives a valid name, always the same one, which does not depend on case.
func FuzzBindingName(f *testing.F) {
	for _, user := range []string{"admin@cpaas.io", "a..b@x.io", "+ana@x.io", "漢@字", "", "A.B@x.io"} {
		f.Add(user)
	}
	f.Fuzz(func(t *testing.T, user string) {
		name := BindingName(user, RoleEdit)
		assert.True(t, strings.HasPrefix(name, "user-") && strings.HasSuffix(name, "-clusterrole-edit"), name)
		if len(user) <= 200 {
			assert.Empty(t, validation.IsDNS1123Subdomain(name), "%q", user)
		}
		if isASCII(user) {
			assert.Equal(t, name, BindingName(strings.ToUpper(user), RoleEdit))
		}
		if profile := ProfileName(user); profile != "" && len(profile) <= 63 {
			assert.Empty(t, validation.IsDNS1123Label(profile), "%q", user)
		}
	})
}

func isASCII(s string) bool {
	return !bytes.ContainsFunc([]byte(s), func(r rune) bool { return r > 127 })
}

// No two versions are each newer than the other, and none is newer than itself.
func FuzzVersions(f *testing.F) {
	f.Add("kfp-operator.v26.3.0", "kfp-operator.v26.3.1")
	f.Add("kubeflow-trainer-operator.v2.1.0", "2.1.0-rc.1+build")
	f.Add("x.v", "v1")
	f.Fuzz(func(t *testing.T, a, b string) {
		assert.False(t, newerThan(a, a))
		assert.False(t, newerThan(a, b) && newerThan(b, a))
		assert.False(t, newerThan(version(a), version(b)) && newerThan(version(b), version(a)))
	})
}

// What catalogs, Secrets and ConfigMaps hold is read or refused, whatever it is.
func FuzzReaders(f *testing.F) {
	f.Add([]byte(testCertificate(f).pem))
	f.Add([]byte(`[{"kind":"KubeflowBase","spec":{"global":{"kubeflowHost":"x"}}}]`))
	f.Add([]byte("extensionProviders:\n- name: otel\n- 3\n"))
	f.Add([]byte(`{"interval":true,"ca":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if found, chain, err := readCertificates(text); err == nil {
			again, _, err := readCertificates([]byte(found.pem))
			require.NoError(t, err)
			assert.Equal(t, found, again)
			assert.Len(t, found.fingerprints, len(chain))
		}
		kinds := customsOf(map[string]any{"owned": []any{map[string]any{"name": string(text), "kind": "KubeflowBase", "version": "v1"}}},
			map[string]any{"alm-examples": string(text)})
		require.Len(t, kinds, 1)
		spec, _, err := kinds[0].spec(kube.Values{}.Set("global.kubeflowHost", "kubeflow.acme.example"), nil)
		require.NoError(t, err)
		assert.Equal(t, "kubeflow.acme.example", textAt(spec, "global", "kubeflowHost"))
		effectiveProviders(&unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"mesh": string(text)}}})
		note := readMeshNote(string(text))
		assert.Equal(t, note.text(), readMeshNote(note.text()).text())
	})
}
