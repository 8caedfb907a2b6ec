package flyte

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxName leaves room for what is put before a deployment's name in the names of objects.
const maxName = 40

func (d Deployment) validate(p *planewright.Problems) {
	if errs := validation.IsDNS1123Label(d.name); len(errs) > 0 || len(d.name) > maxName {
		p.Add("name", d.name, fmt.Sprintf("a deployment's name is at most %d lower-case letters, digits and hyphens", maxName), "choose a short name like ml")
	}
	if d.isFlyte2() {
		d.validateFlyte2(p)
		if d.inPlanes() {
			return // There is no chart for the rest to be measured by.
		}
	}
	d.validateVersion(p)
	if d.inPlanes() {
		d.validatePlanes(p)
	} else {
		d.validateSingle(p)
	}
	if errs := validation.IsDNS1123Label(d.namespace); len(errs) > 0 {
		p.Add("namespace", d.namespace, "a namespace is at most 63 lower-case letters, digits and hyphens", "leave it out to use "+DefaultNamespace)
	}
	d.storage.validate(p)
	d.database.validate(p)
	d.validateAuth(p)
	d.monitoring.validate(p, d.inPlanes())
	validatePlugins(p, "plugins", d.plugins)
	d.validateIdentities(p)
	d.validateProjects(p)
	if len(d.Domains()) > 0 {
		d.validateTemplates(p)
	}
	d.validateRules(p)
	d.requests.validate(p, "resources.requests")
	d.limits.validate(p, "resources.limits")
	d.requests.validateWithin(p, "resources", d.limits)
	d.placement.validate(p, "placement")
	d.validateImages(p)
	d.logLinks.validate(p)
	d.validateRaw(p)
	d.validatePredecessor(p)
}

// validateSingle checks what only a single-cluster deployment has.
func (d Deployment) validateSingle(p *planewright.Problems) {
	if d.cluster == "" {
		p.Add("cluster", "", "a single-cluster deployment names its cluster", "give NewSingleCluster the name of a cluster of the Env")
	}
	d.validateRelease(p)
	if d.replicas != 0 && d.replicas != 1 {
		p.Add("replicas", fmt.Sprint(d.replicas), "the chart flyte-binary runs one replica, and replaces it by stopping it first", "leave it out")
	}
	validateEntrance(p, "", d.host, d.ingress)
	if d.control.set || len(d.dataplanes) > 0 || !d.labels.IsZero() {
		p.Add("controlplane", d.control.cluster, "a single-cluster deployment has no planes", "start with NewDeployment")
	}
}

// chartName is the chart that installs the deployment.
func (d Deployment) chartName() string {
	if d.inPlanes() {
		return coreChart
	}
	return binaryChart
}

// validateVersion checks that the version has the deployment's chart, and
// that it is Flyte 1.
func (d Deployment) validateVersion(p *planewright.Problems) {
	chart, ok := d.version.Chart(d.chartName())
	switch {
	case !ok:
		p.Add("version", d.version.Name(), "this deployment needs the version's chart "+d.chartName(), "use flyte.V1_16_8, or add the chart by WithCharts")
	case chart.Version == "":
		p.Add("version", d.version.Name(), "a chart is pinned by its version; the newest flyte-binary is Flyte 2", "set the chart's Version")
	case d.isFlyte2(): // Told apart by its chart's version.
	case major(chart.Version) != "1":
		p.Add("version", chart.Version, "this chart is neither Flyte 1's nor Flyte 2's, whose values are known", "use flyte.V1_16_8 or flyte.V2_0_42")
	}
	if chart.Digest != "" && !digestPattern.MatchString(chart.Digest) {
		p.Add("version.digest", chart.Digest, "a digest is sha256: and 64 hexadecimal digits", "use the sha256 of the archive, or leave it out")
	}
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// major returns the first number of a version: "1" of "v1.16.8".
func major(version string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return first
}

func (d Deployment) validateRelease(p *planewright.Problems) {
	if errs := validation.IsDNS1035Label(d.release); len(errs) > 0 {
		p.Add("release", d.release, "Services are named after the release: lower-case letters, digits and hyphens, beginning with a letter", "leave it out to use "+DefaultRelease)
		return
	}
	// Helm's own limit, and that of the longest Service.
	if longest := d.fullname() + "-webhook"; len(d.release) > 53 || len(longest) > validation.DNS1035LabelMaxLength {
		p.Add("release", d.release, fmt.Sprintf("a release has at most 53 characters, and its Service %s at most %d", longest, validation.DNS1035LabelMaxLength), "shorten it")
	}
}

// registryPattern is a host with an optional port and path.
var registryPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

func (d Deployment) validateImages(p *planewright.Problems) {
	if d.registry != "" && !registryPattern.MatchString(d.registry) {
		p.Add("imageRegistry", d.registry, "a registry is a host, with a port and a path if it has them, in lower case", "leave out the scheme and the slash at the end")
	}
	for i, name := range d.pullSecrets {
		if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
			p.Add(fmt.Sprintf("pullSecrets[%d]", i), name, "a Secret's name is a DNS subdomain", "use the name of a Secret in the deployment's namespace")
		}
	}
}

// validateRaw checks what can be told of raw values without the chart.
func (d Deployment) validateRaw(p *planewright.Problems) {
	if d.inPlanes() {
		for i, view := range d.views() {
			view.validateRawLayer(p, view.path, view.recipe)
			if i == 0 {
				view.validateRawIngress(p, view.path, view.rawLayer(), coreChart)
				view.validateRawClusters(p, view.path)
			}
		}
		return
	}
	d.validateRawLayer(p, "values", d.single())
	d.validateRawIngress(p, "values", d.rawLayer(), binaryChart)
}

// validateRawLayer checks the raw values of one release.
func (d Deployment) validateRawLayer(p *planewright.Problems, path string, recipe recipe) {
	for i, raw := range d.raw {
		if raw.err != nil {
			p.Add(fmt.Sprintf("%s[%d]", path, i), "", "values are maps of strings, numbers, booleans and lists: "+raw.err.Error(), "mend the values")
		}
	}
	chart, _ := d.version.Chart(recipe.chart())
	raw := d.rawLayer()
	for _, trap := range chart.Traps {
		if _, ok := raw.Get(trap.Path); ok && trap.Error {
			p.Add(path+"."+trap.Path, "", trap.Cause, trap.Fix)
		}
	}
	if kind, ok := raw.Get("storage.type"); ok && recipe.chart() == coreChart && !slices.Contains([]any{"s3", "gcs", "sandbox", "custom"}, kind) {
		p.Add(path+".storage.type", fmt.Sprint(kind), "the chart knows s3, gcs, sandbox and custom, and renders a storage without a bucket for anything else", "use S3Compatible for MinIO and the like, or custom")
	}
	for _, needed := range recipe.needed() {
		value, ok := raw.Get(needed.path)
		if !ok {
			continue
		}
		list, _ := value.([]any)
		if !containsItem(list, needed.item) {
			p.Add(path+"."+needed.path, "", "Helm replaces lists, so this one drops the deployment's own entry "+needed.name, "add this entry to the list: "+inlineYAML(needed.item))
		}
	}
	if recipe.chart() == binaryChart {
		d.validateReplaced(p, raw)
	}
}

// validateReplaced finds raw values that take the place of texts that the
// deployment needs.
func (d Deployment) validateReplaced(p *planewright.Problems, raw kube.Values) {
	if value, ok := raw.Get("configuration.database.passwordPath"); ok && !d.database.password.IsZero() && value != passwordPath {
		p.Add("values.configuration.database.passwordPath", fmt.Sprint(value), "the database's password is mounted at "+passwordPath, "leave the value out, or WithPassword")
	}
	if value, ok := raw.Get("configuration.inlineSecretRef"); ok && d.auth.self() && !d.hashInStorageSecret() && value != d.authSecretName() {
		p.Add("values.configuration.inlineSecretRef", fmt.Sprint(value), "the hash of the machine secret is in Secret "+d.authSecretName()+", which this would drop", "leave the value out, or use an ExternalAuthServer")
	}
	if value, ok := raw.Get("configuration.inlineSecretRef"); ok && d.storageSecretName() != "" && value != d.storageSecretName() {
		p.Add("values.configuration.inlineSecretRef", fmt.Sprint(value), "the storage's keys are in Secret "+d.storageSecretName()+", which this would drop", "put both into one Secret and use WithKeysFromSecret")
	}
}
