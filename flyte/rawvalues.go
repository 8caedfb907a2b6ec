package flyte

import "github.com/planewright/planewright/kube"

// rawValues is one layer of values that the user lays over the deployment's own.
type rawValues struct {
	values kube.Values
	err    error
}

func newRawValues(values kube.Values) rawValues {
	copied, err := copyValues(values)
	return rawValues{copied, err}
}

func parseRawValues(text string) rawValues {
	values, err := kube.ParseValues([]byte(text))
	return rawValues{values, err}
}

// rawLayer returns all raw values as one layer.
func (d Deployment) rawLayer() kube.Values {
	merged := kube.Values{}
	for _, raw := range d.raw {
		merged = merged.Merge(raw.values)
	}
	return merged
}
