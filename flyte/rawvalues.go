package flyte

import (
	"github.com/planewright/planewright/kube"
)

// rawValues is one layer of values that the user lays over the deployment's own.
type rawValues struct {
	values kube.Values
	err    error
}

func newRawValues(values kube.Values) rawValues {
	copied, err := normalize(values)
	if err != nil {
		return rawValues{err: err}
	}
	m, _ := copied.(map[string]any)
	return rawValues{values: m}
}

func parseRawValues(text string) rawValues {
	values, err := parseValues([]byte(text))
	return rawValues{values: values, err: err}
}

// rawLayer returns all raw values as one layer.
func (d Deployment) rawLayer() kube.Values {
	merged := map[string]any{}
	for _, raw := range d.raw {
		merged = mergeValues(merged, raw.values)
	}
	return merged
}
