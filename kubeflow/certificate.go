package kubeflow

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// certificate is what the login shows: one certificate or a chain.
type certificate struct {
	// pem are the certificates, each with one newline behind it.
	pem string
	// fingerprints are the SHA-256 sums of the certificates, in hex.
	fingerprints []string
}

// expiryWarning is how long before its end a certificate is worth a warning.
const expiryWarning = 30 * 24 * time.Hour

func loginSecret() kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: DefaultCatalogNamespace, Name: "dex.tls"}
}

// certificateStep reads the certificate of the platform's login, which the mesh
// must trust to check who somebody is. It is read after the access URLs have
// been set, because the platform may renew it then.
type certificateStep struct{ binding }

func (s certificateStep) step(needs ...string) planewright.Step {
	return planewright.Step{
		ID:      s.binding.step("login-certificate"),
		Title:   "certificate of the platform's login",
		Cluster: s.global.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
	}
}

func (s certificateStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	object := loginSecret().In(s.global.Name)
	finding := func(severity planewright.Severity, cause, fix string) planewright.Finding {
		return planewright.Finding{Severity: severity, Code: CodeCertificate, Object: &object, Cause: cause, Fix: fix}
	}
	failed := func(cause, fix string) (planewright.Change, error) {
		return planewright.Change{Findings: []planewright.Finding{finding(planewright.SeverityError, cause, fix)}}, nil
	}
	secret, err := s.global.Objects.Get(ctx, loginSecret())
	if errors.Is(err, planewright.ErrNotFound) {
		return failed("the Secret of the login's certificate does not exist", "see that "+s.global.Name+" is the platform's global cluster, and not a workload cluster")
	}
	if err != nil {
		return planewright.Change{}, err
	}
	text, err := base64.StdEncoding.DecodeString(textAt(secret.Object, "data", "tls.crt"))
	if err != nil || len(text) == 0 {
		return failed("the Secret has no certificate under tls.crt", "have the platform make it again")
	}
	found, chain, err := readCertificates(text)
	if err != nil {
		return failed("tls.crt is no certificate: "+err.Error(), "have the platform make it again")
	}
	s.certificate.Set(run, found)
	s.LoginFingerprint().Set(run, strings.Join(found.fingerprints, " "))
	// A certificate is no secret, but its whole text says nothing to a reader.
	change := planewright.Change{Fingerprint: strings.Join(found.fingerprints, " ")}
	first, now := chain[0], time.Now()
	switch {
	case now.After(first.NotAfter):
		change.Findings = append(change.Findings, finding(planewright.SeverityError, "the certificate has ended on "+first.NotAfter.Format(time.DateOnly), "have the platform renew it"))
	case now.Add(expiryWarning).After(first.NotAfter):
		change.Findings = append(change.Findings, finding(planewright.SeverityWarning, "the certificate ends on "+first.NotAfter.Format(time.DateOnly), "install again after the platform has renewed it"))
	}
	host, err := s.platformHost(ctx)
	if err == nil && host != "" && first.VerifyHostname(host) != nil {
		change.Findings = append(change.Findings, finding(planewright.SeverityWarning,
			fmt.Sprintf("the certificate is for %s, and the platform's host is %s", strings.Join(first.DNSNames, ", "), host), "see whether the login is reached under another name"))
	}
	return change, nil
}

// platformHost is the host of the platform's own URL.
func (b binding) platformHost(ctx context.Context) (string, error) {
	base, err := b.global.Objects.Get(ctx, productBase())
	if err != nil {
		return "", err
	}
	u, err := url.Parse(textAt(base.Object, "spec", "platformURL"))
	if err != nil {
		return "", err
	}
	return u.Hostname(), nil
}

// readCertificates reads all certificates of a PEM text, in order.
func readCertificates(text []byte) (certificate, []*x509.Certificate, error) {
	var found certificate
	var chain []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return certificate{}, nil, err
		}
		chain = append(chain, parsed)
		found.pem += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}))
		found.fingerprints = append(found.fingerprints, fingerprint(block.Bytes))
	}
	if len(chain) == 0 {
		return certificate{}, nil, errors.New("it holds no PEM block of a certificate")
	}
	return found, chain, nil
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
