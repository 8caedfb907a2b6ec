package flyte

import "strings"

// fullname is the chart's name for a release's objects, as its templates make it.
func (d Deployment) fullname() string {
	raw := d.rawLayer()
	text := func(path string) string {
		value, _ := raw.Get(path)
		s, _ := value.(string)
		return s
	}
	name := text("fullnameOverride")
	if name == "" {
		chart := text("nameOverride")
		if chart == "" {
			chart = binaryChart
		}
		if name = d.release; !strings.Contains(name, chart) {
			name += "-" + chart
		}
	}
	if len(name) > 63 {
		name = name[:63]
	}
	return strings.TrimSuffix(name, "-")
}

// ServiceAccount returns the name of the ServiceAccount that Flyte runs as, in
// [Deployment.Namespace]. A cloud identity must trust it.
func (d Deployment) ServiceAccount() string {
	if name, ok := d.rawLayer().Get("serviceAccount.name"); ok {
		if s, ok := name.(string); ok && s != "" {
			return s
		}
	}
	if create, ok := d.rawLayer().Get("serviceAccount.create"); ok && create == false {
		return "default"
	}
	return d.fullname()
}

// databaseSecretName and storageSecretName are the Secrets that hold what the
// values only refer to.
func (d Deployment) databaseSecretName() string {
	if !d.database.owned() {
		return ""
	}
	return d.release + "-database"
}

func (d Deployment) storageSecretName() string {
	switch {
	case d.storage.keysSecret != "":
		return d.storage.keysSecret
	case d.storage.keyed():
		return d.release + "-storage"
	}
	return ""
}
