package live

type releases struct{ c *connection }
