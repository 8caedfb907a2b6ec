package apiserver

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is anything that can be stored: a typed built-in object or an
// unstructured custom one. A stored object is never changed, only replaced.
type Object interface {
	metav1.Object
	runtime.Object
}

// Clone copies an object deeply.
func Clone[T Object](obj T) T { return obj.DeepCopyObject().(T) }

// record is a stored object with its encoded form.
type record struct {
	obj  Object
	json []byte // nil until asked for; guarded by the server's lock
}

// encoded returns the object as JSON. The server's lock must be held.
func (r *record) encoded() ([]byte, error) {
	if r.json == nil {
		b, err := json.Marshal(r.obj)
		if err != nil {
			return nil, err
		}
		r.json = trimNewline(b)
	}
	return r.json, nil
}

// trimNewline drops the newline that unstructured objects encode with.
func trimNewline(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

// Now returns the time as objects carry it: in whole seconds.
func Now() metav1.Time { return metav1.NewTime(time.Now().UTC().Truncate(time.Second)) }
