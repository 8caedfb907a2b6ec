package flyte

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// testCertificate is an authority of nobody's, good until 2120.
const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBVTCB+6ADAgECAgEBMAoGCCqGSM49BAMCMBkxFzAVBgNVBAMTDnRlc3QgYXV0
aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAZMRcwFQYD
VQQDEw50ZXN0IGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPIT
yfwMy2Y4gZapc3+TPwBNqhn34V1M8usGIPlSUpLwD3tT29zlZqzcyvKN7sWJzQqL
1WTSuULsKIISQMSKlh2jMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFIVi
RK2lAFVAi1+VSnxcvlSf0n/1MAoGCCqGSM49BAMCA0kAMEYCIQDYjiKpd+6JVFNq
hp04F8HFPcCJGZUdpAqphR+d1aOxHQIhAJtZnphZod68t7HHr7q5qBeYnwi5NDKG
ZVIj4aBzLkUf
-----END CERTIFICATE-----
`

func TestCertificates(t *testing.T) {
	assert.True(t, isCertificates(testCertificate))
	assert.True(t, isCertificates("\n"+testCertificate+"\n\n"+testCertificate), "a chain, with space around it")
	for name, text := range map[string]string{
		"nothing":          "",
		"no PEM":           "MIIBszCCAVmgAwIB",
		"a private key":    "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
		"no certificate":   "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
		"something behind": testCertificate + "and more",
	} {
		assert.False(t, isCertificates(text), name)
	}
}
