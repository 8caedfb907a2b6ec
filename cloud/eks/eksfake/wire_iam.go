package eksfake

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const iamNamespace = "https://iam.amazonaws.com/doc/2010-05-08/"

// serveIAM answers in IAM's query protocol.
func (f *Fake) serveIAM(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	operation := r.PostForm.Get("Action")
	output, err := invoke(r, f.IAM(), operation, func(input reflect.Value) error { return fromForm(r.PostForm, "", input) })
	w.Header().Set("Content-Type", "text/xml")
	if err != nil {
		status, code, message, ok := answered(err)
		if !ok {
			breakOff(w)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse xmlns="%s"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>ignored</RequestId></ErrorResponse>`,
			iamNamespace, escaped(code), escaped(message))
		return
	}
	var b strings.Builder
	toXML(&b, output)
	fmt.Fprintf(w, `<%sResponse xmlns="%s"><%sResult>%s</%sResult><ResponseMetadata><RequestId>ignored</RequestId></ResponseMetadata></%sResponse>`,
		operation, iamNamespace, operation, b.String(), operation, operation)
}

// fromForm reads a value of the query protocol: "Tags.member.1.Key".
func fromForm(form url.Values, path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !has(form, path) {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return fromForm(form, path, v.Elem())
	case reflect.Struct:
		return fields(v, func(name string, field reflect.Value) error { return fromForm(form, join(path, name), field) })
	case reflect.Slice:
		for i := 1; has(form, fmt.Sprintf("%s.member.%d", path, i)); i++ {
			item := reflect.New(v.Type().Elem()).Elem()
			if err := fromForm(form, fmt.Sprintf("%s.member.%d", path, i), item); err != nil {
				return err
			}
			v.Set(reflect.Append(v, item))
		}
		return nil
	case reflect.String:
		v.SetString(form.Get(path))
	case reflect.Bool:
		v.SetBool(form.Get(path) == "true")
	case reflect.Int32, reflect.Int64:
		if form.Get(path) == "" {
			return nil
		}
		n, err := strconv.ParseInt(form.Get(path), 10, 64)
		v.SetInt(n)
		return err
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// has reports whether a form has a value or a part of one.
func has(form url.Values, path string) bool {
	if form.Has(path) {
		return true
	}
	for key := range form {
		if strings.HasPrefix(key, path+".") {
			return true
		}
	}
	return false
}

// toXML writes a value's fields as IAM does: lists of <member>, maps of <entry>.
func toXML(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		toXML(b, v.Elem())
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			b.WriteString(at.UTC().Format(time.RFC3339))
			return
		}
		_ = fields(v, func(name string, field reflect.Value) error {
			if field.Kind() == reflect.Pointer && field.IsNil() {
				return nil
			}
			b.WriteString("<" + name + ">")
			toXML(b, field)
			b.WriteString("</" + name + ">")
			return nil
		})
	case reflect.Slice:
		for i := range v.Len() {
			b.WriteString("<member>")
			toXML(b, v.Index(i))
			b.WriteString("</member>")
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			b.WriteString("<entry><key>" + escaped(key.String()) + "</key><value>")
			toXML(b, v.MapIndex(key))
			b.WriteString("</value></entry>")
		}
	default:
		b.WriteString(escaped(fmt.Sprint(v.Interface())))
	}
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
