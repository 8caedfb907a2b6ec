package flyte

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
)

// isCertificates reports whether the text is PEM certificates and nothing else.
func isCertificates(text string) bool {
	rest := []byte(strings.TrimSpace(text))
	if len(rest) == 0 {
		return false
	}
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		rest = []byte(strings.TrimSpace(string(rest)))
	}
	return true
}
