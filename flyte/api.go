package flyte

import (
	"net"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
)

// API is how data planes reach flyteadmin over gRPC. Make one with [APIAt].
type API struct {
	given     bool
	address   string
	plaintext bool
}

// APIAt is flyteadmin at "host:port", with TLS. By default data planes use
// the control plane's host, on port 443 or that of [Ingress.WithListenPorts].
func APIAt(address string) API { return API{given: true, address: address} }

// WithoutTLS connects in plain text, for an address inside a private network.
func (a API) WithoutTLS() API {
	a.plaintext = true
	return a
}

// endpoint is the address as Flyte's clients want it. Without a scheme they
// take an IP address with a port for a malformed URL.
func (a API) endpoint() string { return "dns:///" + a.address }

// apiOf is how data planes reach a control plane, zero if nothing says so.
func (c ControlPlane) apiOf() API {
	if c.api.given || c.host == "" {
		return c.api
	}
	return API{address: net.JoinHostPort(c.host, strconv.Itoa(c.ingress.port()))}
}

// validateAddress checks "host:port".
func validateAddress(p *planewright.Problems, path, address string) {
	host, port, err := net.SplitHostPort(address)
	switch {
	case strings.Contains(address, "://"):
		p.Add(path, address, "an address has no scheme", "write host:port")
	case err != nil || !isHost(host) || !isPort(port):
		p.Add(path, address, "an address is a DNS name or an IP address, a colon and a port", `write it like "flyte.acme.internal:443"`)
	}
}
