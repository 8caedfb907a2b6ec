package flyte

import (
	"maps"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Catalog is how data planes reach datacatalog, the catalog of cached results
// in the control plane. It knows no authentication, so it must not be reached
// from outside a private network. Make one with [InternalLoadBalancer] or [CatalogAt].
type Catalog struct {
	balanced    bool
	provider    cloud.Provider
	annotations map[string]string
	given       bool
	address     string
	tls         bool
}

// datacatalogPort is datacatalog's gRPC port on its Service.
const datacatalogPort = 89

// InternalLoadBalancer makes a Service of type LoadBalancer for datacatalog,
// inside the private network of the control plane's cluster, and gives its
// address to the data planes. It is annotated as the cloud of the cluster, or
// of the storage, wants it; elsewhere say how by [Catalog.WithAnnotation].
func InternalLoadBalancer() Catalog { return Catalog{balanced: true} }

// CatalogAt is datacatalog at "host:port", in plain text.
func CatalogAt(address string) Catalog { return Catalog{given: true, address: address} }

// WithTLS connects with TLS, for an address that something in front of datacatalog serves.
func (c Catalog) WithTLS() Catalog {
	c.tls = true
	return c
}

// WithAnnotation sets an annotation of the load balancer's Service, over those
// of the cloud. On a cloud that is not known, say what keeps the load balancer private.
func (c Catalog) WithAnnotation(key, value string) Catalog {
	c.annotations = maps.Clone(c.annotations)
	if c.annotations == nil {
		c.annotations = map[string]string{}
	}
	c.annotations[key] = value
	return c
}

// isZero reports whether data planes do not reach the catalog.
func (c Catalog) isZero() bool { return !c.balanced && !c.given }

// balancerAnnotations keep a load balancer inside the private network.
func (c Catalog) balancerAnnotations() map[string]string {
	annotations := c.cloudAnnotations()
	maps.Copy(annotations, c.annotations)
	return annotations
}

// cloudAnnotations are those that the cloud wants for it.
func (c Catalog) cloudAnnotations() map[string]string {
	switch c.provider {
	case cloud.AWS:
		return map[string]string{
			"service.beta.kubernetes.io/aws-load-balancer-type":            "external",
			"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
			"service.beta.kubernetes.io/aws-load-balancer-scheme":          "internal",
			// For clusters without the AWS Load Balancer Controller.
			"service.beta.kubernetes.io/aws-load-balancer-internal": "true",
		}
	case cloud.GCP:
		return map[string]string{"networking.gke.io/load-balancer-type": "Internal"}
	}
	return map[string]string{}
}

func (c Catalog) validate(p *planewright.Problems, path string) {
	if c.given {
		validateAddress(p, path+".address", c.address)
	}
	if c.tls && !c.given {
		p.Add(path+".tls", "", "datacatalog behind the load balancer speaks plain gRPC", "leave WithTLS out, or use CatalogAt with the address of what ends TLS before it")
	}
	for _, key := range slices.Sorted(maps.Keys(c.annotations)) {
		if errs := validation.IsQualifiedName(strings.ToLower(key)); len(errs) > 0 {
			p.Add(path+".annotations", key, "an annotation's key is a qualified name", `write it like "service.beta.kubernetes.io/aws-load-balancer-scheme"`)
		}
	}
}
