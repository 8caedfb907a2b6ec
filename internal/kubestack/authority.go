package kubestack

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// certificateLife outlasts any use of a stack.
const certificateLife = 365 * 24 * time.Hour

// authority is a certificate authority of one cluster.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// keyPair is a certificate and its private key in PEM.
type keyPair struct{ certificate, key []byte }

// newAuthority makes an authority with a key of its own.
func newAuthority(name string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	certificate, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority %s: %w", name, err)
	}
	return &authority{certificate: certificate, key: key}, nil
}

// pair returns the authority's own certificate and key.
func (a *authority) pair() (keyPair, error) { return encode(a.certificate, a.key) }

// client issues a client certificate. The API server takes the common name as the
// user's name and the organizations as the user's groups.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server issues a server certificate.
func (a *authority) server(names []string, addresses []net.IP) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: names[0]},
		DNSNames:    names,
		IPAddresses: addresses,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// issue completes and signs a certificate for a new key.
func (a *authority) issue(template *x509.Certificate) (keyPair, error) {
	key, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return keyPair{}, fmt.Errorf("choose a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = a.certificate.NotBefore
	template.NotAfter = time.Now().Add(certificateLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return keyPair{}, fmt.Errorf("read back the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return encode(certificate, key)
}

// newKey makes a private key. An elliptic one takes a hundredth of the time of an RSA one.
func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a private key: %w", err)
	}
	return key, nil
}

// encode returns a certificate and its key in PEM.
func encode(certificate *x509.Certificate, key crypto.PrivateKey) (keyPair, error) {
	certificatePEM, err := certutil.EncodeCertificates(certificate)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a certificate: %w", err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a private key: %w", err)
	}
	return keyPair{certificate: certificatePEM, key: keyPEM}, nil
}
