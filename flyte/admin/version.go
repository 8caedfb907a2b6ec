package admin

import (
	"context"
	"errors"
	"net/http"
)

// Version is which flyteadmin runs.
type Version struct {
	// Version is the release, "v1.16.8"; Build is the commit; BuildTime is as
	// the build wrote it. flyteadmin built without them answers "unknown".
	Version, Build, BuildTime string
}

// Version asks for flyteadmin's version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var v Version
	get := call{op: "GetVersion", method: http.MethodGet, path: pathOf("version")}
	err := c.do(ctx, get, func(m message) {
		if !m.has("control_plane_version") {
			m.fail(errors.New("it holds no version"))
		}
		plane := m.message("control_plane_version")
		v = Version{Version: plane.text("Version"), Build: plane.text("Build"), BuildTime: plane.text("BuildTime")}
	})
	return v, err
}
