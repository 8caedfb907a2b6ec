package kubefake

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
)

// identity is what tells one cluster from another: its certificate authority,
// and the key that signs its service accounts' tokens. Both follow from the
// cluster's name, so that they are the same in every run.
type identity struct {
	name string
	key  func() *ecdsa.PrivateKey
	ca   func() []byte
}

func newIdentity(name string) *identity {
	id := &identity{name: name}
	id.key = sync.OnceValue(func() *ecdsa.PrivateKey { return deriveKey("service accounts of " + name) })
	id.ca = sync.OnceValue(func() []byte { return newCA(name) })
	return id
}

// deriveKey makes a key of a text. It protects nothing: everybody can make it.
func deriveKey(text string) *ecdsa.PrivateKey {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "kubefake %d: %s", n, text))
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]); err == nil {
			return key
		}
	}
}

// newCA makes the self-signed certificate of a cluster's authority, as PEM.
func newCA(name string) []byte {
	key := deriveKey("certificate authority of " + name)
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubefake " + name},
		NotBefore: from, NotAfter: from.AddDate(200, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), deterministic{key})
	if err != nil {
		panic("kubefake: making a certificate authority: " + err.Error())
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// deterministic signs the same thing the same way every time.
type deterministic struct{ *ecdsa.PrivateKey }

// Sign implements [crypto.Signer].
func (d deterministic) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return d.PrivateKey.Sign(nil, digest, opts)
}

// claims are what a service account's token says.
type claims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud,omitempty"`
	IssuedAt   int64    `json:"iat,omitempty"`
	Expires    int64    `json:"exp,omitempty"`
	Namespace  string   `json:"kubernetes.io/serviceaccount/namespace,omitempty"`
	Account    string   `json:"kubernetes.io/serviceaccount/service-account.name,omitempty"`
	AccountUID string   `json:"kubernetes.io/serviceaccount/service-account.uid,omitempty"`
	Secret     string   `json:"kubernetes.io/serviceaccount/secret.name,omitempty"`
}

// mint makes a token for a service account, valid for so many seconds or, for
// 0, for ever.
func (id *identity) mint(account apiserver.Account, seconds int64) string {
	c := claims{
		Issuer: "kubernetes/serviceaccount", Subject: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		Namespace: account.Namespace, Account: account.Name, AccountUID: account.UID, Secret: account.Secret,
	}
	if seconds > 0 {
		now := time.Now().Unix()
		c.Issuer, c.Audience = "https://kubernetes.default.svc.cluster.local", []string{"https://kubernetes.default.svc.cluster.local"}
		c.IssuedAt, c.Expires = now, now+seconds
	}
	signed := segment(map[string]string{"alg": "ES256", "kid": id.name}) + "." + segment(c)
	digest := sha256.Sum256([]byte(signed))
	der, err := id.key().Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		panic("kubefake: signing a token: " + err.Error())
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		panic("kubefake: signing a token: " + err.Error())
	}
	signature := make([]byte, 64)
	pair.R.FillBytes(signature[:32])
	pair.S.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func segment(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("kubefake: writing a token: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// verify reads a token that this cluster signed and that has not expired.
func (id *identity) verify(token string) (apiserver.Account, bool) {
	signed, encoded, ok := cutLast(token, ".")
	if !ok {
		return apiserver.Account{}, false
	}
	signature, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || len(signature) != 64 {
		return apiserver.Account{}, false
	}
	digest := sha256.Sum256([]byte(signed))
	if !ecdsa.Verify(&id.key().PublicKey, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return apiserver.Account{}, false
	}
	_, payload, _ := strings.Cut(signed, ".")
	b, err := base64.RawURLEncoding.DecodeString(payload)
	var c claims
	if err != nil || json.Unmarshal(b, &c) != nil || c.Expires != 0 && time.Now().Unix() >= c.Expires {
		return apiserver.Account{}, false
	}
	return apiserver.Account{Namespace: c.Namespace, Name: c.Account, UID: c.AccountUID, Secret: c.Secret}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
