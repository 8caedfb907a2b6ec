package live

type objects struct{ c *connection }
