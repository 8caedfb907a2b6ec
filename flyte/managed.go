package flyte

import "encoding/json"

// ownsDataKey reports whether a field manager's fields hold a key of data.
func ownsDataKey(fields []byte, key string) bool {
	var owned struct {
		Data map[string]json.RawMessage `json:"f:data"`
	}
	if json.Unmarshal(fields, &owned) != nil {
		return false
	}
	_, ok := owned.Data["f:"+key]
	return ok
}
