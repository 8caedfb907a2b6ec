package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reply is the answer to a request.
type Reply struct {
	// Code is the HTTP status.
	Code int
	// Persisted tells whether the call changed stored state.
	Persisted bool
	// Name is the name of the object that a create made.
	Name string

	header http.Header
	body   []byte
	stream io.ReadCloser
}

// Response returns the reply as the transport gives it to a client.
func (r *Reply) Response(req *http.Request) *http.Response {
	res := &http.Response{
		Status: strconv.Itoa(r.Code) + " " + http.StatusText(r.Code), StatusCode: r.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Request: req, Body: r.stream, ContentLength: -1,
	}
	if res.Header == nil {
		res.Header = http.Header{}
	}
	if res.Header.Get("Content-Type") == "" {
		res.Header.Set("Content-Type", "application/json")
	}
	if r.stream == nil {
		res.Body = io.NopCloser(bytes.NewReader(r.body))
		res.ContentLength = int64(len(r.body))
	}
	return res
}

// Close frees a reply that no client will read.
func (r *Reply) Close() {
	if r.stream != nil {
		r.stream.Close()
	}
}

func (r *Reply) warn(warnings []string) {
	for _, w := range warnings {
		if r.header == nil {
			r.header = http.Header{}
		}
		r.header.Add("Warning", fmt.Sprintf("299 - %q", w))
	}
}

// ErrorReply makes the reply of an error: its own status, or 500.
func ErrorReply(err error) *Reply {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	reply := jsonReply(int(status.Code), status)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		reply.header = http.Header{"Retry-After": {strconv.Itoa(int(status.Details.RetryAfterSeconds))}}
	}
	return reply
}

func jsonReply(code int, v any) *Reply {
	body, err := json.Marshal(v)
	if err != nil {
		return ErrorReply(err)
	}
	return &Reply{Code: code, body: body}
}

// notFoundReply is what the real server says to a path that it does not know.
func notFoundReply() *Reply {
	return &Reply{Code: http.StatusNotFound, body: []byte("404 page not found\n"), header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}}
}
