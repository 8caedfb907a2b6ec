package flyte

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Resolver looks up the addresses of a host; a *[net.Resolver] is one. That a
// host does not exist is a *[net.DNSError] whose IsNotFound is set.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// WithResolver has a verification ask whether the host leads to its ingress. By
// default it is not asked: a host is often known inside a private network only.
// With [Env.WithDialer] too, the ingress is connected to, and its certificate and
// Flyte's health over HTTP and gRPC are looked at.
func (e Env) WithResolver(resolver Resolver) Env {
	e.resolver = resolver
	return e
}

// DNSRecord is a record by which a host leads to an ingress.
type DNSRecord struct {
	// Name is the host.
	Name string
	// Type is "CNAME" for the name of a load balancer, "A" or "AAAA" for its
	// address. A zone's own name takes no CNAME: there, use your provider's alias.
	Type string
	// Value is the load balancer's name or address.
	Value string
}

// String is the record as in a zone file: "flyte.acme.example. CNAME lb.example.".
func (r DNSRecord) String() string {
	if r == (DNSRecord{}) {
		return ""
	}
	value := r.Value
	if r.Type == "CNAME" {
		value += "."
	}
	return fmt.Sprintf("%s. %s %s", r.Name, r.Type, value)
}

func newDNSRecord(host, address string) DNSRecord {
	switch ip := net.ParseIP(address); {
	case ip == nil:
		return DNSRecord{host, "CNAME", strings.TrimSuffix(address, ".")}
	case ip.To4() == nil:
		return DNSRecord{host, "AAAA", address}
	}
	return DNSRecord{host, "A", address}
}

// resolution is where a host leads.
type resolution struct {
	// here is set if it leads to the address that it is compared with.
	here bool
	// at are the host's addresses, none if it does not exist.
	at []string
}

// resolve compares where a host leads with an address of a load balancer.
func resolve(ctx context.Context, resolver Resolver, host, address string) (resolution, error) {
	at, err := lookUp(ctx, resolver, host)
	if err != nil || len(at) == 0 {
		return resolution{}, err
	}
	wanted := []string{address}
	if net.ParseIP(address) == nil {
		if wanted, err = lookUp(ctx, resolver, address); err != nil {
			return resolution{}, err
		}
	}
	here := slices.ContainsFunc(at, func(ip string) bool { return slices.Contains(wanted, ip) })
	return resolution{here, at}, nil
}

// lookUp returns no address of a host that does not exist.
func lookUp(ctx context.Context, resolver Resolver, host string) ([]string, error) {
	at, err := resolver.LookupHost(ctx, host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return nil, nil
	}
	return at, err
}
