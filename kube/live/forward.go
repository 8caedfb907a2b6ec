package live

import (
	"context"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

type forwarder struct{ c *connection }

func (f *forwarder) Forward(context.Context, kube.ForwardRequest) (kube.Forwarding, error) {
	return nil, planewright.ErrUnsupported
}
