package flyte

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// gateway is Flyte's HTTP port at a local address.
type gateway struct{ address string }

// maxAnswer bounds how much of an answer is read.
const maxAnswer = 1 << 16

// The paths of the health checks of Flyte 1 and Flyte 2.
const (
	healthPath1 = "/healthcheck"
	healthPath2 = "/healthz"
)

// health calls Flyte's health check.
func (g gateway) health(ctx context.Context, path string) error {
	_, err := g.get(ctx, path)
	return err
}

// version asks for the version that runs. It is not known to be Flyte that
// answers if the answer is none of Flyte's, or if it wants a login.
func (g gateway) version(ctx context.Context) (version string, ok bool) {
	body, err := g.get(ctx, "/api/v1/version")
	if err != nil {
		return "", false
	}
	type plane struct {
		Version string `json:"Version"`
	}
	// The gateway has written field names in both ways.
	var answer struct {
		Snake *plane `json:"control_plane_version"`
		Camel *plane `json:"controlPlaneVersion"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", false
	}
	switch {
	case answer.Snake != nil:
		return answer.Snake.Version, true
	case answer.Camel != nil:
		return answer.Camel.Version, true
	}
	return "", false
}

// get reads a path. Anything but 200 is an error.
func (g gateway) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.address+path, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		// The address is this machine's: no proxy stands before it.
		Transport:     &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s answered %s", path, response.Status)
	}
	return body, nil
}
