package kubeflowtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"time"
)

// PlatformCertificate is the certificate of the platform's login, as PEM. It is
// the same in every run.
func PlatformCertificate() []byte { return Certificate("acp.acme.example", 1) }

// Certificate makes a self-signed certificate of a host, as PEM, valid from 2000
// to 2200. Those with different serial numbers have different keys.
func Certificate(host string, serial int64) []byte {
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return CertificateUntil(host, serial, from.AddDate(200, 0, 0))
}

// CertificateUntil is [Certificate] with an end of its own.
func CertificateUntil(host string, serial int64, until time.Time) []byte {
	key := deriveKey(fmt.Sprintf("%s %d", host, serial))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), deterministic{key})
	if err != nil {
		panic("kubeflowtest: making a certificate: " + err.Error())
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// deriveKey makes a key of a text. It protects nothing: everybody can make it.
func deriveKey(text string) *ecdsa.PrivateKey {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "kubeflowtest %d: %s", n, text))
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]); err == nil {
			return key
		}
	}
}

// deterministic signs the same thing the same way every time.
type deterministic struct{ *ecdsa.PrivateKey }

// Sign implements [crypto.Signer].
func (d deterministic) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return d.PrivateKey.Sign(nil, digest, opts)
}
