package adminfake

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/planewright/planewright/flyte/admin"
)

// Endpoint is the endpoint of the clients that [Fake.Client] makes.
const Endpoint = "https://flyte.example"

// maxBody bounds how much of a request is read.
const maxBody = 4 << 20

// Client makes a client that calls the fake without a network. The options
// come after that; with [WithAuth], give credentials too.
func (f *Fake) Client(options ...admin.Option) (*admin.Client, error) {
	return admin.New(Endpoint, append([]admin.Option{admin.WithHTTPClient(&http.Client{Transport: f})}, options...)...)
}

// ServeHTTP implements [http.Handler]: the fake over a network. Where a client
// is to get no answer, the connection is closed.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	answer, err := f.serve(r, scheme+r.Host)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) // a client that is gone needs no answer
}

// RoundTrip implements [http.RoundTripper]: the fake without a network.
func (f *Fake) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.serve(r, r.URL.Scheme+"://"+r.URL.Host)
	if err != nil {
		return nil, err
	}
	header := answer.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status: http.StatusText(answer.status), StatusCode: answer.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(answer.body)), ContentLength: int64(len(answer.body)), Request: r,
	}, nil
}

// serve answers a call, or meets its fault, and keeps it in the log.
func (f *Fake) serve(r *http.Request, baseURL string) (*reply, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
		_ = r.Body.Close() // as RoundTrip must; it has been read
		if err != nil {
			return nil, err
		}
	}
	o, params, unknown := find(f.routes, r.Method, r.URL.EscapedPath())
	call := Call{Operation: o.name, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: string(body), Time: time.Now()}
	if o.name == "Token" {
		call.Body = ""
	}
	answer, persisted, err := f.respond(r, call, func() (*reply, bool) {
		if unknown != nil {
			return jsonReply(unknown.http(), unknown.body()), false
		}
		return f.run(o, &request{call: call, params: params, query: r.URL.Query(), body: body, header: r.Header, baseURL: baseURL})
	})
	call.Persisted, call.Err = persisted, err
	if answer != nil {
		call.Status = answer.status
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	return answer, err
}

// respond makes the answer to a call, or meets its fault.
func (f *Fake) respond(r *http.Request, call Call, run func() (*reply, bool)) (answer *reply, persisted bool, err error) {
	if err := f.alive(); err != nil {
		return nil, false, err
	}
	rule, err := f.provoke(r.Context(), call)
	if err != nil {
		return nil, false, err
	}
	if rule == nil || rule.fault == None {
		answer, persisted = run()
		return answer, persisted, nil
	}
	if rule.afterwards {
		_, persisted = run()
	}
	answer, err = f.answer(r.Context(), rule.fault)
	return answer, persisted, err
}
