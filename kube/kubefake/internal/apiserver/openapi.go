package apiserver

import (
	"net/http"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// openAPIv3 answers with documents that hold no schemas, only what clients
// look up before they send an object: that the server itself validates fields.
func (s *Server) openAPIv3(path string) *Reply {
	if path == "" {
		paths := map[string]any{}
		for _, r := range s.resources() {
			p := strings.TrimPrefix(groupVersionPath(r.GroupVersion()), "/")
			paths[p] = map[string]string{"serverRelativeURL": "/openapi/v3/" + p + "?hash=0"}
		}
		return jsonReply(http.StatusOK, map[string]any{"paths": paths})
	}
	paths := map[string]any{}
	for _, r := range s.resources() {
		root := groupVersionPath(r.GroupVersion())
		if root != path {
			continue
		}
		if r.Namespaced {
			root += "/namespaces/{namespace}"
		}
		paths[root+"/"+r.Plural+"/{name}"] = map[string]any{"patch": map[string]any{
			"x-kubernetes-group-version-kind": map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind},
			"x-kubernetes-action":             "patch",
			"parameters": []map[string]any{
				{"name": "dryRun", "in": "query", "schema": map[string]string{"type": "string"}},
				{"name": "fieldValidation", "in": "query", "schema": map[string]string{"type": "string"}},
			},
			"responses": map[string]any{},
		}}
	}
	if len(paths) == 0 {
		return notFoundReply()
	}
	return jsonReply(http.StatusOK, map[string]any{
		"openapi": "3.0.0", "info": map[string]string{"title": "Kubernetes", "version": s.config.Version},
		"paths": paths, "components": map[string]any{"schemas": map[string]any{}},
	})
}

func groupVersionPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// openAPIv2 answers with a document that describes nothing.
func openAPIv2(r *Request) *Reply {
	if !strings.Contains(r.http.Header.Get("Accept"), "protobuf") {
		return jsonReply(http.StatusOK, map[string]any{
			"swagger": "2.0", "info": map[string]string{"title": "Kubernetes", "version": "unversioned"},
			"paths": map[string]any{}, "definitions": map[string]any{},
		})
	}
	body, err := proto.Marshal(&openapi_v2.Document{
		Swagger: "2.0", Info: &openapi_v2.Info{Title: "Kubernetes", Version: "unversioned"},
		Paths: &openapi_v2.Paths{}, Definitions: &openapi_v2.Definitions{},
	})
	if err != nil {
		return ErrorReply(err)
	}
	return &Reply{Code: http.StatusOK, body: body, header: http.Header{"Content-Type": {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}}}
}
