package apiserver

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// maxBody is how long a request body may be.
const maxBody = 3 * 1024 * 1024

// Request is one call, read from the wire.
type Request struct {
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection; "discover" for anything that is about no object.
	Verb string
	// Group, Version, Resource and Subresource are as in the path; Kind is
	// the kind's name, empty for one that is not served.
	Group, Version, Resource, Subresource, Kind string
	// Namespace and Name are the object's; the name of a created object is
	// taken from the body.
	Namespace, Name string
	// DryRun tells that nothing is to be persisted.
	DryRun bool

	http        *http.Request
	query       url.Values
	body        []byte
	contentType string
	kind        *kind
	user        string
}

// isResource reports whether the request is about objects.
func (r *Request) isResource() bool { return r.Resource != "" }

// Parse reads a request, its body included. Objections to it are raised by
// [Server.Serve], like those of the real server.
func (s *Server) Parse(req *http.Request) (*Request, error) {
	r := &Request{http: req, query: req.URL.Query(), Verb: "discover"}
	if req.Body != nil {
		defer req.Body.Close()
		body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("reading the request body: %w", err)
		}
		r.body = body
	}
	r.contentType, _, _ = mime.ParseMediaType(req.Header.Get("Content-Type"))
	r.DryRun = slices.Contains(r.query["dryRun"], "All")
	r.path(strings.Split(strings.Trim(req.URL.Path, "/"), "/"))
	if !r.isResource() {
		return r, nil
	}
	r.Verb = r.verb(req.Method)

	s.mu.Lock()
	r.kind = s.served(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource})
	s.mu.Unlock()
	if r.kind != nil {
		r.Kind = r.kind.Kind
	}
	switch r.Verb {
	case "create":
		r.Name = r.nameInBody()
	case "delete", "deletecollection":
		if options, err := r.deleteOptions(); err == nil && slices.Contains(options.DryRun, "All") {
			r.DryRun = true
		}
	}
	return r, nil
}

// path reads /api/v1/… and /apis/GROUP/VERSION/….
func (r *Request) path(parts []string) {
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		r.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.Group, r.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return
	}
	// A namespace has subresources of its own; anything else after it is inside it.
	if parts[0] == "namespaces" && len(parts) > 2 && (r.Group != "" || parts[2] != "status" && parts[2] != "finalize") {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
}

func (r *Request) verb(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case isTrue(r.query, "watch"):
			return "watch"
		case r.Name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		if types.PatchType(r.contentType) == types.ApplyYAMLPatchType {
			return "apply"
		}
		return "patch"
	case http.MethodDelete:
		if r.Name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return strings.ToLower(method)
}

// nameInBody returns the name of the object that is to be created, as far as
// it can be told.
func (r *Request) nameInBody() string {
	if r.kind == nil || r.Subresource != "" {
		return r.Name
	}
	obj, _, err := decodeObject(r.kind, r.body)
	if err != nil {
		return ""
	}
	return obj.GetName()
}

// attributes are what authorization is asked about.
func (r *Request) attributes() Attributes {
	verb := r.Verb
	if verb == "apply" {
		verb = "patch"
	}
	name := r.Name
	if verb == "create" {
		name = "" // not known from the path
	}
	return Attributes{User: r.user, Verb: verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: name}
}

// configuration reads the body of an apply: JSON or YAML, only the fields
// that it is about.
func (r *Request) configuration() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if json.Valid(r.body) && u.UnmarshalJSON(r.body) == nil {
		return u, nil // clients send JSON, which is much faster to read
	}
	body, err := yaml.YAMLToJSON(r.body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if err := u.UnmarshalJSON(body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return u, nil
}

func isTrue(query url.Values, key string) bool {
	v := query.Get(key)
	return v == "true" || v == "1"
}
