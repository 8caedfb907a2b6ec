package flyte

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validatePlanes checks what only a deployment in planes has.
func (d Deployment) validatePlanes(p *planewright.Problems) {
	if !d.control.set {
		p.Add("controlplane", "", "a deployment has a control plane", "use WithControlPlane(flyte.NewControlPlane(cluster))")
	}
	for _, unsuited := range []struct {
		path, fix string
		set       bool
	}{
		{"release", "use WithRelease of the control plane and of data planes", d.release != ""},
		{"identity", "use WithIdentity of the control plane and of data planes", !d.identity.IsZero()},
		{"replicas", "use WithPods of the control plane and of data planes", d.replicas != 0},
		{"resources", "use WithPods of the control plane and of data planes", !d.requests.IsZero() || !d.limits.IsZero()},
		{"placement", "use WithPods of the control plane and of data planes", len(d.placement.podSpec()) > 0},
		{"host", "use WithHost of the control plane", d.host != ""},
		{"ingress", "use WithIngress of the control plane", !d.ingress.isZero()},
	} {
		if unsuited.set {
			p.Add(unsuited.path, "", "it is said of each component here", unsuited.fix)
		}
	}
	d.control.validate(p, "controlplane")
	d.validateSecureAPI(p)
	d.validatePartition(p, "controlplane.identity", d.control.identity)
	d.validateDataplanes(p)
	d.validateLabels(p)
	d.validateCanary(p)
	for i, size := range d.waves {
		if size < 1 {
			p.Add(fmt.Sprintf("waves[%d]", i), fmt.Sprint(size), "a wave has one data plane or more", "leave it out")
		}
	}
	if _, inCluster := d.database.password.InCluster(); inCluster && d.database.rootCA != "" {
		p.Add("database.rootCA", "", "the chart flyte-core mounts one Secret for the database, and the password's is not the deployment's own", "give the password's text by another source, or put the authority into an image")
	}
	if chart, _ := d.version.Chart(coreChart); d.storage.keyed() && len(chart.Values) > 0 && !chart.reads("storage.secretName") {
		p.Add("storage.keys", "", fmt.Sprintf("the chart %s %s reads its storage's configuration from no Secret, and keys would be in plain text in the release's record", chart.Name, chart.Version), "use V1_16_8, or give the pods access by their identity")
	}
	if d.storage.keysSecret != "" {
		p.Add("storage.keys", d.storage.keysSecret, "flyte-core reads all of its storage's configuration from one Secret, which the deployment writes", "use WithKeys")
	}
}

func (c ControlPlane) validate(p *planewright.Problems, path string) {
	if !c.set {
		return
	}
	if c.cluster == "" {
		p.Add(path+".cluster", "", "a control plane names its cluster", "give NewControlPlane the name of a cluster of the Env")
	}
	validateCoreRelease(p, path+".release", c.release)
	validateEntrance(p, path, c.host, c.ingress)
	if c.api != (API{}) {
		validateAddress(p, path+".api.address", c.api.address)
	}
	c.catalog.validate(p, path+".catalog")
	c.identity.validate(p, path+".identity")
	if !c.trust.IsZero() && !c.identity.IsZero() && c.identity.kind != identityNew {
		p.Add(path+".trust", c.identity.String(), "a trust policy is laid over that of an identity which the deployment makes", "leave it out, or use NewIdentity")
	}
	if c.executes != "" {
		validateExecutor(p, path+".execution", c.executes)
	}
	c.pods.validate(p, path, func(f componentFacts) bool { return c.executes != "" || !f.executes }, "this control plane")
}

// validateCoreRelease checks the name of a release of flyte-core, after which
// nothing but its ingress and its labels are called.
func validateCoreRelease(p *planewright.Problems, path, release string) {
	if errs := validation.IsDNS1123Label(release); len(errs) > 0 || len(release) > 53 {
		p.Add(path, release, "a release has at most 53 lower-case letters, digits and hyphens", "leave it out to use the default")
	}
}

// executorName matches names that are good as ids, and as parts of keys of a Secret.
var executorName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

func validateExecutor(p *planewright.Problems, path, name string) {
	if !executorName.MatchString(name) || len(name) > 63 {
		p.Add(path, name, "a cluster's name has at most 63 letters, digits and any of - _ ., and begins and ends with a letter or digit", "choose a name like dp-1")
	}
}

// foldName is what cluster names must differ in.
func foldName(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}

func (d Deployment) validateDataplanes(p *planewright.Problems) {
	names, clusters := map[string]string{}, map[string]string{}
	if d.control.executes != "" {
		names[foldName(d.control.executes)] = "the control plane, which is called " + d.control.executes
	}
	if d.control.cluster != "" {
		clusters[d.control.cluster] = "the control plane"
	}
	for i, plane := range d.dataplanes {
		path := fmt.Sprintf("dataplanes[%d]", i)
		validateExecutor(p, path+".name", plane.name)
		validatePlugins(p, path+".plugins", plane.plugins)
		if other, ok := names[foldName(plane.name)]; ok {
			p.Add(path+".name", plane.name, "names differ by more than case and by more than - _ and .; this one is too much like that of "+other, "choose another name")
		} else {
			names[foldName(plane.name)] = fmt.Sprintf("data plane %s", plane.name)
		}
		switch other, ok := clusters[plane.cluster]; {
		case plane.cluster == "":
			p.Add(path+".cluster", "", "a data plane names its cluster", "give NewDataplane the name of a cluster of the Env")
		case ok:
			fix := "give each a cluster of its own"
			if other == "the control plane" {
				fix = "use ControlPlane.WithExecution to run workflows in the control plane's cluster"
			}
			p.Add(path+".cluster", plane.cluster, "the cluster has "+other+" already; the charts' objects have the same names", fix)
		default:
			clusters[plane.cluster] = "data plane " + plane.name
		}
		validateCoreRelease(p, path+".release", plane.release)
		plane.endpoint.validate(p, path+".endpoint")
		plane.identity.validate(p, path+".identity")
		d.validatePartition(p, path+".identity", plane.identity)
		if !plane.trust.IsZero() && !plane.identity.IsZero() && plane.identity.kind != identityNew {
			p.Add(path+".trust", plane.identity.String(), "a trust policy is laid over that of an identity which the deployment makes", "leave it out, or use NewIdentity")
		}
		if plane.token < 0 {
			p.Add(path+".tokenGeneration", fmt.Sprint(plane.token), "a generation is a number from 1 on", "leave it out, or raise it by one to make a new token")
		}
		plane.pods.validate(p, path, func(f componentFacts) bool { return f.executes }, "a data plane")
	}
	if len(d.dataplanes) > 0 && d.control.apiOf().address == "" {
		p.Add("controlplane.host", "", "data planes report to flyteadmin, and nothing says how they reach it", "use WithHost and WithIngress, or WithAPI")
	}
	if len(d.dataplanes) == 0 && d.control.set && d.control.executes == "" {
		p.Add("dataplanes", "", "nothing would run workflows", "use WithDataplanes, or ControlPlane.WithExecution")
	}
	if len(d.dataplanes) > 0 && len(d.enabledExecutors()) == 0 {
		p.Add("dataplanes", "", "no cluster takes executions, and flyteadmin does not start without one", "leave WithoutNewExecutions out of one")
	}
}

func (e ClusterEndpoint) validate(p *planewright.Problems, path string) {
	if e == (ClusterEndpoint{}) {
		return
	}
	if problem := endpointProblem(e.url); problem != "" {
		p.Add(path+".url", e.url, problem, `write it like "https://ABC.gr7.us-east-1.eks.amazonaws.com"`)
	}
	if e.ca != "" && !isCertificates(e.ca) {
		p.Add(path+".ca", "", "an authority is one or more certificates in PEM form", "give the content of a file that begins with -----BEGIN CERTIFICATE-----, decoded if it was base64")
	}
}

// endpointProblem says what is wrong with an API server's URL, empty if nothing is.
func endpointProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "an endpoint is a URL"
	case u.Scheme != "https":
		return "an endpoint begins with https://"
	case u.Hostname() == "" || !isHost(strings.ToLower(u.Hostname())) || u.Port() != "" && !isPort(u.Port()):
		return "an endpoint has a host, and a port if it is not 443"
	case u.Path != "" && u.Path != "/" || strings.ContainsAny(text, "?#@") || strings.HasSuffix(u.Host, ":"):
		return "an endpoint ends with its host and port"
	}
	return ""
}

// isPort reports whether a text is a port's number.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0 && strconv.FormatUint(port, 10) == text
}

// maxWeight keeps sums of weights within what is computed exactly.
const maxWeight = 1_000_000

func (d Deployment) validateLabels(p *planewright.Problems) {
	m := d.labels
	if len(d.dataplanes) == 0 && !m.IsZero() {
		p.Add("labels", "", "with one cluster flyteadmin knows no labels, and refuses executions that have one", "leave WithLabelMap out, or add data planes")
		return
	}
	var known, enabled []string
	for _, e := range d.executors() {
		known = append(known, e.name)
		if e.enabled {
			enabled = append(enabled, e.name)
		}
	}
	for _, l := range m.labels {
		path := "labels." + l.name
		validateLabelName(p, path, l.name)
		sum := 0
		seen := map[string]bool{}
		for i, w := range l.weights {
			at := fmt.Sprintf("%s[%d]", path, i)
			switch {
			case !slices.Contains(known, w.Cluster):
				p.Add(at+".cluster", w.Cluster, "flyteadmin skips a cluster that it does not know", "use one of "+joinOr(known))
			case !slices.Contains(enabled, w.Cluster):
				p.Add(at+".cluster", w.Cluster, "the data plane takes no new executions", "leave it out of the label")
			case seen[w.Cluster]:
				p.Add(at+".cluster", w.Cluster, "a label names a cluster once", "add the weights up")
			}
			seen[w.Cluster] = true
			if w.Weight < 0 || w.Weight > maxWeight {
				p.Add(at+".weight", fmt.Sprint(w.Weight), fmt.Sprintf("a weight is a whole number from 0 to %d", maxWeight), "use percentages, say")
			}
			sum += w.Weight
		}
		if sum <= 0 {
			p.Add(path, "", "no cluster has a weight above zero, which flyteadmin takes for equal weights", "give one a weight")
		}
	}
	var names []string
	for _, l := range m.labels {
		names = append(names, l.name)
	}
	switch _, ok := m.label(m.defaultLabel); {
	case m.defaultLabel != "" && !ok:
		p.Add("labels.default", m.defaultLabel, "there is no such label, and executions without one would run anywhere", orAny(names, "add it by WithLabel"))
	case m.defaultLabel == "" && len(enabled) > 1 && d.effectiveLabels().defaultLabel == "":
		p.Add("labels.default", "", "with several clusters to run on, flyteadmin sends executions without a label to any of them", "use WithDefault")
	}
	d.validateBindings(p, names)
}

func orAny(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	return "use " + joinOr(names) + ", or " + otherwise
}

// labelName matches what goes through YAML and flyteadmin's configuration unchanged.
var labelName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

func validateLabelName(p *planewright.Problems, path, name string) {
	switch {
	case name != strings.ToLower(name):
		p.Add(path, name, "flyteadmin lower-cases labels where it reads the map, and not where it looks one up: this one would never be found", fmt.Sprintf("use %q", strings.ToLower(name)))
	case !labelName.MatchString(name) || len(name) > 63:
		p.Add(path, name, "a label has at most 63 lower-case letters, digits and any of - _ .", "rename it")
	}
}

func (d Deployment) validateBindings(p *planewright.Problems, labels []string) {
	projects := d.projectNames()
	seen := map[LabelBinding]bool{}
	for i, b := range d.labels.bindings {
		path := fmt.Sprintf("labels.bindings[%d]", i)
		if !slices.Contains(labels, b.Label) {
			p.Add(path+".label", b.Label, "there is no such label; flyteadmin would take it and fall back to the default", orAny(labels, "add it by WithLabel"))
		}
		if !slices.Contains(projects, b.Project) {
			p.Add(path+".project", b.Project, "flyteadmin refuses a binding of a project that does not exist", orAny(projects, "add it by WithProjects"))
		}
		if b.Domain != "" && !slices.Contains(d.Domains(), b.Domain) {
			p.Add(path+".domain", b.Domain, "the deployment has the domains "+joinAnd(d.Domains()), "use one of them, or add it by WithDomains")
		}
		if slices.Contains(d.labels.incomplete, i) {
			p.Add(path, b.String(), "a binding names each part of what it is for, and here one is empty", "use WithWholeProject for a project, WithProject for one domain of it, WithWorkflow for one workflow there")
			continue
		}
		if b.Workflow != "" && !workflowName(b.Workflow) {
			p.Add(path+".workflow", b.Workflow, "a workflow has the name that Flyte shows: at most 255 bytes of text, without white space, slashes and braces", `write it like "train.main"`)
		}
		scope := b
		scope.Label = ""
		if seen[scope] {
			p.Add(path, scope.String(), "one label is bound to it", "leave one of them out")
		}
		seen[scope] = true
	}
}

// workflowName reports whether a text can be a workflow's name.
func workflowName(text string) bool {
	return len(text) <= 255 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/{}", r)
	})
}

// String names what is bound: "team1/development/train.main".
func (b LabelBinding) String() string {
	s := b.Project
	for _, part := range []string{b.Domain, b.Workflow} {
		if part != "" {
			s += "/" + part
		}
	}
	if b.Label != "" {
		s += ": " + b.Label
	}
	return s
}

// projectNames are the projects that exist from the start.
func (d Deployment) projectNames() []string {
	if len(d.projects) == 0 {
		return []string{exampleProject}
	}
	names := make([]string, len(d.projects))
	for i, project := range d.projects {
		names[i] = project.name
	}
	return names
}
