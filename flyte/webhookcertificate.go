package flyte

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// certificateNotice is how long before its end a certificate is told of.
const certificateNotice = 30 * 24 * time.Hour

// verifyWebhookCertificate reads the certificate that flytepropeller made for
// its webhook when it was first started, and does not renew.
func (s releaseStep) verifyWebhookCertificate(ctx context.Context) ([]planewright.Finding, error) {
	ref := kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace, Name: podWebhook}
	live, err := s.cluster.Objects.Get(ctx, ref)
	if errors.Is(err, planewright.ErrNotFound) || errors.Is(err, planewright.ErrDenied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	encoded, _, _ := unstructured.NestedString(live.Object, "data", "tls.crt")
	text, _ := base64.StdEncoding.DecodeString(encoded)
	block, _ := pem.Decode(text)
	if block == nil {
		// The webhook has not been started yet.
		return nil, nil
	}
	object := ref.In(s.cluster.Name)
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeCertificate, Object: &object,
		Fix: fmt.Sprintf("empty the Secret and restart the webhook, which then makes a new one: kubectl -n %s rollout restart deployment/%s", s.namespace, podWebhook)}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch now := s.now(); {
	case err != nil:
		finding.Cause = "the webhook's certificate cannot be read"
	case now.After(certificate.NotAfter):
		finding.Cause = fmt.Sprintf("the webhook's certificate ended on %s, so that no pod which asks for secrets can be made", certificate.NotAfter.UTC().Format(time.DateOnly))
	case now.Add(certificateNotice).After(certificate.NotAfter):
		finding.Severity = planewright.SeverityWarning
		finding.Cause = fmt.Sprintf("the webhook's certificate ends on %s; then no pod which asks for secrets can be made", certificate.NotAfter.UTC().Format(time.DateOnly))
	default:
		return nil, nil
	}
	return []planewright.Finding{finding}, nil
}
