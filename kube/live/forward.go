package live

type forwarder struct{ c *connection }
