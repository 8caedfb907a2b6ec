package apiserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// list answers with one page of objects. Later pages show the state at their
// own time, not that of the first one.
func (s *Server) list(r *Request, k *kind) (*Reply, error) {
	sel, err := s.selection(r, k)
	if err != nil {
		return nil, err
	}
	limit, _ := strconv.Atoi(r.query.Get("limit"))
	after, err := decodeContinue(r.query.Get("continue"))
	if err != nil {
		return nil, err
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(s.revision, 10)}
	f := formOf(r, k)
	var items [][]byte
	var last types.NamespacedName
	remaining := int64(0)
	for _, rec := range s.table(k.stored(s)).sorted(r.Namespace) {
		key := keyOf(rec.obj)
		if after != nil && compareKeys(key, *after) <= 0 || !sel.matches(rec.obj) {
			continue
		}
		if limit > 0 && len(items) == limit {
			remaining++
			continue
		}
		item, err := f.item(rec)
		if err != nil {
			return nil, err
		}
		items, last = append(items, item), key
	}
	if remaining > 0 {
		meta.Continue = encodeContinue(last)
		if sel.isEverything() {
			meta.RemainingItemCount = &remaining
		}
	}
	encodedMeta, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	name, version := k.Kind+"List", k.GroupVersion().String()
	if f.metadataOnly {
		name, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	var b bytes.Buffer
	b.WriteString(`{"kind":"` + name + `","apiVersion":"` + version + `","metadata":`)
	b.Write(encodedMeta)
	b.WriteString(`,"items":[`)
	b.Write(bytes.Join(items, []byte{','}))
	b.WriteString(`]}`)
	return &Reply{Code: http.StatusOK, body: b.Bytes()}, nil
}

func encodeContinue(last types.NamespacedName) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.Namespace + "\x00" + last.Name))
}

func decodeContinue(token string) (*types.NamespacedName, error) {
	if token == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	namespace, name, ok := strings.Cut(string(b), "\x00")
	if err != nil || !ok {
		return nil, apierrors.NewBadRequest("continue key is not valid")
	}
	return &types.NamespacedName{Namespace: namespace, Name: name}, nil
}
