package flyte

import (
	"errors"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// isFlyte2 reports whether the deployment's release is of Flyte 2.
func (d Deployment) isFlyte2() bool {
	chart, ok := d.version.Chart(binaryChart)
	return ok && major(chart.Version) == "2"
}

// single is the recipe of the one release of a single-cluster deployment.
func (d Deployment) single() recipe {
	if d.isFlyte2() {
		return flyte2{d}
	}
	return binary{d}
}

// flyte2 is the one release of Flyte 2. Its chart has the name of Flyte 1's and
// other values; what Kubernetes sees of it is much alike.
type flyte2 struct{ Deployment }

func (f flyte2) chart() string { return binaryChart }

// overlays are none: the archive has no values files but its own.
func (f flyte2) overlays(Chart) []string { return nil }

func (f flyte2) typed(_, defaults kube.Values, in inputs) kube.Values {
	v := &layer{values: kube.Values{}}
	f.setDatabase(v)
	f.setStorage(v)
	// Tasks run in the deployment's namespace, which is there; no other one is made.
	v.set("flyte-core-components.actions.kubernetes.namespace", f.namespace)
	v.set("configuration.logging.plugins", f.logLinks.values())
	v.set("ingress.create", false)
	if len(f.rules) > 0 {
		list := make([]any, len(f.rules))
		for i, r := range f.rules {
			list[i] = r.values()
		}
		v.set("rbac.extraRules", list)
	}
	f.setServiceAccount(v)
	f.setPods(v, revisions{database: in.database, storage: in.storage})
	f.setImages(v, defaults)
	return v.values
}

func (f flyte2) setDatabase(v *layer) {
	db := f.database
	postgres := map[string]any{
		"host":     db.host,
		"port":     int64(db.port),
		"dbname":   db.name,
		"username": db.user,
		"options":  db.options(),
		"password": "",
	}
	if !db.password.IsZero() {
		postgres["passwordPath"] = passwordPath
	}
	v.set("configuration.database.postgres", postgres)
}

func (f flyte2) setStorage(v *layer) {
	s := f.storage
	v.set("configuration.storage.provider", s.provider)
	v.set("configuration.storage.metadataContainer", s.bucket)
	// What user code writes is told by a URL.
	v.set("flyte-core-components.runs.storagePrefix", s.scheme()+"://"+s.UserDataBucket())
	if s.provider == providerGCS {
		v.set("configuration.storage.providerConfig.gcs.project", s.project)
		return
	}
	config := map[string]any{"region": s.region, "authType": "iam"}
	if s.compatible {
		config["endpoint"] = strings.TrimSuffix(s.endpoint, "/")
		config["disableSSL"] = strings.HasPrefix(s.endpoint, "http://")
	}
	v.set("configuration.storage.providerConfig.s3", config)
	if name := f.storageSecretName(); name != "" {
		// With authType accesskey the chart wants the id among its values, and
		// repeats all for co-pilot. So the Secret holds a whole configuration of the
		// storage, for Flyte and for the co-pilots of tasks alike.
		v.set("configuration.inlineSecretRef", name)
		v.set("configuration.co-pilot.storageSecretRef", name)
	}
}

func (f flyte2) needed() []neededItem { return f.neededItems() }

// templates are none: Flyte 2 makes nothing for projects.
func (f flyte2) templates(kube.Values) (templates map[string]any, custom, everywhere string) {
	return nil, "", ""
}

func (f flyte2) domainList() string { return "" }

func (f flyte2) doors() []door {
	return []door{{doorHTTP, f.fullname() + "-http", "http"}, {doorWebhook, "", "webhook"}}
}

func (f flyte2) entrance() (host string, ingress Ingress) { return "", Ingress{} }

func (f flyte2) workload() string { return f.fullname() }

// executes is false: there is no flytepropeller that would have to end what
// runs, and the definition of task actions stays with them after an uninstall.
func (f flyte2) executes() bool { return false }

func (f flyte2) webhook() string { return f.fullname() + "-webhook" }

func (f flyte2) leftovers() []leftover {
	name := f.fullname()
	return []leftover{
		{webhookRef(name + "-webhook"),
			"Flyte made it; without Flyte it refuses pods that ask for secrets, so delete it if there are any"},
		{kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: f.namespace, Name: name + "-webhook-secret"},
			"Flyte made it; it holds the webhook's certificate"},
	}
}

// consoleTag is where the chart names the console's image.
const consoleTag = "console.image.tag"

// flyte2Findings tell what is particular to Flyte 2.
func (s releaseStep) flyte2Findings(l layers) []planewright.Finding {
	if !s.isFlyte2() {
		return nil
	}
	object := s.object()
	finding := planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeNoLogin, Object: &object,
		Cause: "Flyte 2 checks no login: whoever reaches it may run code in the cluster",
		Fix:   "before it is given a host, put a proxy that logs people in before it: an ALB with OIDC, or oauth2-proxy; tell Flyte of the proxy's headers by flyte-core-components.runs.identityHeaders",
	}
	if create, _ := l.merged.Get("ingress.create"); create == true {
		finding.Severity = planewright.SeverityWarning
		finding.Cause += ", and it has an ingress"
		finding.Fix += "; clients that are no browsers need ingress.apiJwtIngress and ingress.wellknownIngress beside it"
	}
	findings := []planewright.Finding{finding}
	tag, said := l.merged.Get(consoleTag)
	if !said {
		tag, _ = l.defaults.Get(consoleTag)
	}
	if tag == "latest" {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeImageUnpinned, Object: &object,
			Cause: "the chart takes the newest image of the console, whichever that is when a node pulls it",
			Fix:   "pin it by the raw value " + consoleTag,
		})
	}
	return findings
}

// validateFlyte2 refuses what Flyte 2 has no place for.
func (d Deployment) validateFlyte2(p *planewright.Problems) {
	const (
		planes   = "Flyte 2 runs on one cluster: its chart has no planes, and nothing in its configuration names another cluster"
		projects = "Flyte 2 runs the tasks of all projects in one namespace, and makes none"
	)
	for _, has := range []struct {
		path             string
		set              bool
		value, rule, fix string
	}{
		{"controlplane", d.inPlanes() || d.control.set, d.control.cluster, planes, "use NewSingleCluster, or a version of Flyte 1"},
		{"dataplanes", len(d.dataplanes) > 0, strconv.Itoa(len(d.dataplanes)), planes, "use NewSingleCluster, or a version of Flyte 1"},
		{"labelMap", !d.labels.IsZero(), "", "Flyte 2 has no execution cluster labels, as there is one cluster", "leave it out, or use a version of Flyte 1"},
		{"predecessor", d.predecessor != nil, "", "there is no way from Flyte 1 to Flyte 2 but a new installation beside it", "leave it out"},
		{"host", d.host != "", d.host, "Flyte 2 checks no login, so that it is safe behind a proxy only that logs people in", "put the raw values of the chart below ingress, for that proxy"},
		{"ingress", !d.ingress.isZero(), "", "Flyte 2 checks no login, so that it is safe behind a proxy only that logs people in", "put the raw values of the chart below ingress, for that proxy"},
		{"auth", !d.auth.IsZero(), "", "Flyte 2 checks no login itself", "put a proxy that logs people in before it, and tell Flyte of its headers by flyte-core-components.runs.identityHeaders"},
		{"plugins", len(d.plugins) > 0, "", "Flyte 2 has its plugins below another value, enabled_plugins.tasks", "use raw values below enabled_plugins.tasks"},
		{"userIdentity", d.userIdentity.kind != "" || len(d.domainIdentities) > 0, "", projects, "annotate the ServiceAccount that tasks name, in the deployment's namespace"},
		{"domains", len(d.domains) > 0, joinAnd(d.domains), "Flyte 2 has its domains in its own settings, not in the chart's values", "leave them out"},
		{"projects", len(d.projects) > 0, "", "Flyte 2 has its projects behind its own API, not in the chart's values", "make them by its client once it runs"},
		{"namespaceMapping", d.mapping != "", d.mapping, projects, "leave it out"},
		{"resourceTemplates", len(d.templates) > 0, "", projects, "make quotas and the like in the deployment's namespace yourself"},
		{"templateVariables", len(d.variables) > 0, "", projects, "leave them out"},
	} {
		if has.set {
			p.Add(has.path, has.value, has.rule, has.fix)
		}
	}
}

// Moving tells what the deployment would need to become one of another release,
// [V2_0_42] above all: everything that it says and that the release has no place for,
// and what no specification can move. An empty list means that the specification may stay as it is.
//
//	for _, need := range deployment.Moving(flyte.V2_0_42) {
//		fmt.Println(need)
//	}
//
// It knows no cluster: nothing is read and nothing is changed.
func (d Deployment) Moving(version Version) []planewright.Finding {
	moved := d.WithVersion(version)
	var findings []planewright.Finding
	var problems []planewright.Problem
	if wrong, ok := errors.AsType[*planewright.ValidationError](moved.Validate()); ok {
		problems = wrong.Problems
	}
	for _, problem := range problems {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeMove, Cause: problem.Path + ": " + problem.Rule, Fix: problem.Fix})
	}
	if facts, ok := version.Chart(moved.chartName()); ok && !moved.inPlanes() {
		findings = append(findings, moved.rawFindings(facts)...)
	}
	if d.isFlyte2() == moved.isFlyte2() {
		return findings
	}
	for _, move := range [][2]string{
		{"Flyte 1 and Flyte 2 do not read each other's database: projects, executions and schedules stay where they are", "give the other one a database and a bucket of its own, see WithDatabase and WithStorage"},
		{"a Helm release cannot be upgraded from one to the other", "install it beside: WithNamespace and WithRelease with other names; uninstall the old one once nothing runs there"},
		{"workflows are written with another SDK and have to be registered again", "port them, and run them on the new one before users are sent there"},
	} {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeMove, Cause: move[0], Fix: move[1]})
	}
	return findings
}
