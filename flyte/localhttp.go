package flyte

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// probeURL asks for a URL. Anything but an answer with the status 200 is an
// error. Without a transport it is by a connection of its own, through no proxy.
func probeURL(ctx context.Context, transport http.RoundTripper, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if transport == nil {
		transport = &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true}
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s answered %s", request.URL.Path, response.Status)
	}
	return nil
}
