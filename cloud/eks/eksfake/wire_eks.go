package eksfake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// serveEKS answers in EKS's protocol: REST with JSON.
func (f *Fake) serveEKS(w http.ResponseWriter, r *http.Request) {
	operation, parameters := route(r)
	output, err := invoke(r, f.EKS(), operation, func(input reflect.Value) error {
		body := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for key, value := range parameters {
			body[key] = value
		}
		for key, values := range r.URL.Query() {
			body[key] = values[0]
		}
		return fromJSON(body, input)
	})
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status, code, message, ok := answered(err)
		if !ok {
			breakOff(w)
			return
		}
		w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
		return
	}
	_ = json.NewEncoder(w).Encode(toJSON(output))
}

// route finds the operation and the parameters in the path.
func route(r *http.Request) (operation string, parameters map[string]any) {
	parameters = map[string]any{}
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(r.URL.EscapedPath(), "/"), "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		parts = append(parts, part)
	}
	verb := map[string]string{http.MethodGet: "Describe", http.MethodPost: "Create", http.MethodDelete: "Delete"}[r.Method]
	if len(parts) <= 2 {
		if len(parts) == 2 {
			parameters["name"] = parts[1]
		}
		return verb + "Cluster", parameters
	}
	kind := map[string]string{"node-groups": "Nodegroup", "pod-identity-associations": "PodIdentityAssociation", "addons": "Addon", "access-entries": "AccessEntry"}[parts[2]]
	parameters["clusterName"] = parts[1]
	if len(parts) == 3 {
		if r.Method == http.MethodGet {
			return "List" + kind + "s", parameters
		}
		return verb + kind, parameters
	}
	parameters[map[string]string{"Nodegroup": "nodegroupName", "PodIdentityAssociation": "associationId", "Addon": "addonName", "AccessEntry": "principalArn"}[kind]] = parts[3]
	if len(parts) == 5 && parts[4] == "access-policies" {
		return map[string]string{http.MethodGet: "ListAssociatedAccessPolicies", http.MethodPost: "AssociateAccessPolicy"}[r.Method], parameters
	}
	if r.Method == http.MethodPost {
		verb = "Update"
	}
	return verb + kind, parameters
}

// fromJSON sets a value from JSON, in which names begin in lower case.
func fromJSON(from any, v reflect.Value) error {
	if from == nil {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fromJSON(from, v.Elem())
	case reflect.Struct:
		object, ok := from.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", from)
		}
		return fields(v, func(name string, field reflect.Value) error { return fromJSON(object[lowerFirst(name)], field) })
	case reflect.Slice:
		list, ok := from.([]any)
		if !ok {
			return fmt.Errorf("%v is no list", from)
		}
		for _, one := range list {
			item := reflect.New(v.Type().Elem()).Elem()
			if err := fromJSON(one, item); err != nil {
				return err
			}
			v.Set(reflect.Append(v, item))
		}
	case reflect.Map:
		object, ok := from.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", from)
		}
		v.Set(reflect.MakeMap(v.Type()))
		for key, one := range object {
			v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(fmt.Sprint(one)))
		}
	case reflect.String:
		v.SetString(fmt.Sprint(from))
	case reflect.Bool:
		yes, ok := from.(bool)
		if !ok {
			return fmt.Errorf("%v is no boolean", from)
		}
		v.SetBool(yes)
	case reflect.Int32, reflect.Int64:
		number, ok := from.(float64)
		if !ok {
			return fmt.Errorf("%v is no number", from)
		}
		v.SetInt(int64(number))
	}
	return nil
}

// toJSON writes a value with names in lower case, and times as seconds.
func toJSON(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return toJSON(v.Elem())
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return float64(at.UnixMilli()) / 1000
		}
		object := map[string]any{}
		_ = fields(v, func(name string, field reflect.Value) error {
			if one := toJSON(field); one != nil {
				object[lowerFirst(name)] = one
			}
			return nil
		})
		return object
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = toJSON(v.Index(i))
		}
		return list
	case reflect.Map:
		object := map[string]any{}
		for _, key := range v.MapKeys() {
			object[key.String()] = toJSON(v.MapIndex(key))
		}
		return object
	}
	return v.Interface()
}

func lowerFirst(name string) string {
	runes := []rune(name)
	runes[0] = unicode.ToLower(runes[0])
	return string(runes)
}
