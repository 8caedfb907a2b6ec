package live

import "errors"

// errNoAnswer is the cause of a request that ran into our own time limit.
var errNoAnswer = errors.New("the API server did not answer in time")
