package flyte

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Discovery is a Flyte that is there, as a deployment would describe it.
type Discovery struct {
	// Deployment describes it as far as it can be read. Its plan shows every
	// difference that is left; nothing is taken over before it is installed.
	Deployment Deployment
	// Findings tell what could not be read, or not be said.
	Findings []planewright.Finding
}

// Discover reads a Flyte of the chart flyte-core that was installed in
// another way (by hand after the deployment guide, say): its releases of
// whatever names, its database, storage, domains and ingress, its data planes
// with the clusters that they are in, labels, projects, and roles. The
// deployment gets the given name; cluster is that of the control plane, and data
// planes are found among the other clusters of the Env, by their endpoints.
//
//	found, err := flyte.Discover(ctx, env, "ml", "control")
//	plan, err := found.Deployment.WithAdoption().Plan(ctx, env)
//
// It reads no secret and writes nothing. Where there is no such release the
// error matches planewright.ErrNotFound.
func Discover(ctx context.Context, env Env, name, cluster string) (Discovery, error) {
	var p planewright.Problems
	env.validate(&p, cluster)
	if err := p.Err("discovery of " + name); err != nil {
		return Discovery{}, err
	}
	control, _ := env.cluster(cluster)
	d := discoverer{env: env, control: control}
	return d.discover(ctx, name)
}

// discoverer reads one Flyte.
type discoverer struct {
	env      Env
	control  kube.Cluster
	findings []planewright.Finding

	namespace string
	state     kube.ReleaseState
}

func (d *discoverer) discover(ctx context.Context, name string) (Discovery, error) {
	if err := d.findRelease(ctx); err != nil {
		return Discovery{}, err
	}
	base, err := d.configFiles(ctx, "flyte-admin-base-config")
	if err != nil {
		return Discovery{}, err
	}
	version := V1_16_8
	if chart, _ := V1_15_3.Chart(coreChart); d.state.ChartVersion == chart.Version {
		version = V1_15_3
	}
	if chart, _ := version.Chart(coreChart); d.state.ChartVersion != chart.Version {
		d.note("the release is of chart version %s, and the deployment is described with %s: its plan is that of an upgrade", d.state.ChartVersion, chart.Version)
	}
	found := NewDeployment(name, version).WithNamespace(d.namespace)
	found = d.domains(found, base["domain.yaml"], base["namespace_config.yaml"])
	found = d.storage(found, base["storage.yaml"])
	if found, err = d.resources(ctx, found, base["cluster_resources.yaml"]); err != nil {
		return Discovery{}, err
	}
	found = d.database(found, base["db.yaml"])
	d.login(base["server.yaml"])
	c := NewControlPlane(d.control.Name).WithRelease(d.state.Name)
	if c, err = d.ingress(ctx, c); err != nil {
		return Discovery{}, err
	}
	identity, err := d.identity(ctx, d.control, "flyteadmin")
	if err != nil {
		return Discovery{}, err
	}
	found = found.WithControlPlane(c.WithIdentity(identity))
	if found, err = d.dataplanes(ctx, found); err != nil {
		return Discovery{}, err
	}
	if found, err = d.fromAdmin(ctx, found); err != nil {
		return Discovery{}, err
	}
	return Discovery{Deployment: found, Findings: d.findings}, nil
}

// login tells of a login: its secrets cannot be read, so a plan of what was found
// would turn it off.
func (d *discoverer) login(server kube.Values) {
	if on, _ := server.Get("server.security.useAuth"); on != true {
		return
	}
	issuer, _ := server.Get("auth.userAuth.openId.baseUrl")
	client, _ := server.Get("auth.userAuth.openId.clientId")
	d.findings = append(d.findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeDiscovery,
		Cause: fmt.Sprintf("people log in at %v as %v, and the deployment that was read has no login: installing it would open Flyte to everybody", issuer, client),
		Fix:   fmt.Sprintf("use WithAuth(flyte.OIDC(%q, %q, …)) on it first", issuer, client)})
}

// note tells what could not be read.
func (d *discoverer) note(format string, args ...any) {
	d.findings = append(d.findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeDiscovery, Cause: fmt.Sprintf(format, args...)})
}

// findRelease looks for the control plane's release, by what it made.
func (d *discoverer) findRelease(ctx context.Context) error {
	list, err := d.control.Releases.List(ctx, "")
	if err != nil {
		return err
	}
	for _, state := range list {
		if state.Chart != coreChart {
			continue
		}
		full, err := d.control.Releases.State(ctx, state.Namespace, state.Name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(full.Objects, func(r kube.Ref) bool { return r.Kind == "Deployment" && r.Name == string(FlyteAdmin) }) {
			d.namespace, d.state = full.Namespace, full
			return nil
		}
	}
	return fmt.Errorf("cluster %s has no release of %s with a flyteadmin: %w", d.control.Name, coreChart, planewright.ErrNotFound)
}

// configTexts reads a ConfigMap's files; none if it does not exist.
func (d *discoverer) configTexts(ctx context.Context, name string) (map[string]string, error) {
	live, err := d.control.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: d.namespace, Name: name})
	if errors.Is(err, planewright.ErrNotFound) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	return data, nil
}

// configFiles reads a ConfigMap's files as values.
func (d *discoverer) configFiles(ctx context.Context, name string) (map[string]kube.Values, error) {
	data, err := d.configTexts(ctx, name)
	if err != nil {
		return nil, err
	}
	files := map[string]kube.Values{}
	for file, text := range data {
		values, err := kube.ParseValues([]byte(text))
		if err != nil {
			d.note("%s of ConfigMap %s cannot be read: %v", file, name, err)
			continue
		}
		files[file] = values
	}
	return files, nil
}

func textAt(values kube.Values, path string) string {
	value, _ := values.Get(path)
	s, _ := value.(string)
	return s
}

func (d *discoverer) database(found Deployment, file kube.Values) Deployment {
	db := Postgres(textAt(file, "database.host"), textAt(file, "database.dbname")).WithUser(textAt(file, "database.username"))
	if port, ok := file.Get("database.port"); ok {
		db = db.WithPort(wholeNumber(port))
	}
	for option := range strings.FieldsSeq(textAt(file, "database.options")) {
		if mode, ok := strings.CutPrefix(option, "sslmode="); ok {
			db = db.WithTLS(TLSMode(mode))
		}
	}
	// The password stays where it is: the Secret is what the pods mount.
	if key, ok := strings.CutPrefix(textAt(file, "database.passwordPath"), coreDatabaseMount+"/"); ok {
		db = db.WithPassword(planewright.SecretInCluster(d.databaseSecret(), key))
	} else {
		d.note("where the database's password comes from cannot be told; use WithPassword")
	}
	return found.WithDatabase(db)
}

// databaseSecret is the Secret that the guide's values make.
func (d *discoverer) databaseSecret() string {
	for _, ref := range d.state.Objects {
		if ref.Kind == "Secret" && ref.Name == "db-pass" {
			d.note("Secret db-pass belongs to the release, which no longer has it once it is adopted: annotate it with helm.sh/resource-policy: keep, or use WithPassword")
		}
	}
	return "db-pass"
}

func (d *discoverer) storage(found Deployment, file kube.Values) Deployment {
	bucket := textAt(file, "storage.container")
	switch {
	case textAt(file, "storage.type") == "s3" && textAt(file, "storage.connection.endpoint") == "":
		return found.WithStorage(S3(bucket, textAt(file, "storage.connection.region")))
	case textAt(file, "storage.type") == "s3":
		return found.WithStorage(S3Compatible(bucket, textAt(file, "storage.connection.endpoint")).WithRegion(textAt(file, "storage.connection.region")))
	case textAt(file, "storage.stow.kind") == "google":
		return found.WithStorage(GCS(bucket, textAt(file, "storage.stow.config.project_id")))
	}
	d.note("the storage cannot be told from its configuration; use WithStorage")
	return found
}

func (d *discoverer) domains(found Deployment, domains, mapping kube.Values) Deployment {
	list, _ := domains.Get("domains")
	items, _ := list.([]any)
	var ids []string
	for _, item := range items {
		m, _ := asMap(item)
		if id, ok := m["id"].(string); ok {
			ids = append(ids, id)
		}
	}
	if !slices.Equal(ids, DefaultDomains()) {
		found = found.WithDomains(ids...)
	}
	if template := textAt(mapping, "namespace_mapping.template"); template != "" && template != defaultMapping {
		found = found.WithNamespaceMapping(template)
	}
	return found
}

// resources reads the identity of user code out of the variables of the
// resource templates. Other templates are told of.
func (d *discoverer) resources(ctx context.Context, found Deployment, file kube.Values) (Deployment, error) {
	templates, err := d.configTexts(ctx, "clusterresource-template")
	if err != nil {
		return found, err
	}
	var others []string
	for name, text := range templates {
		for _, use := range templateUses(text) {
			text = strings.ReplaceAll(text, use.text, "x")
		}
		m, err := parseManifest(text)
		if err != nil || m.Kind != "Namespace" && (m.Kind != "ServiceAccount" || m.Metadata.Name != "default") {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		d.note("the resource templates %s are not taken over; use WithResourceTemplate and WithTemplateVariable, or they end", joinAnd(others))
	}
	value, _ := file.Get("cluster_resources.customData")
	identities := map[string]Identity{}
	for domain, data := range pairs(value) {
		for name, source := range pairs(data) {
			switch text := sourceText(source); {
			case name == "defaultIamRole" && awsRoleARN.MatchString(text):
				identities[domain] = AWSRole(text)
			case (name == "gsa" || name == "defaultIamServiceAccount") && gcpEmail.MatchString(text):
				identities[domain] = GCPServiceAccount(text)
			}
		}
	}
	for _, domain := range found.Domains() {
		identity, ok := identities[domain]
		switch {
		case !ok:
		case found.userIdentity.IsZero():
			found = found.WithUserIdentity(identity)
		case found.userIdentity.value != identity.value:
			found = found.WithDomainIdentity(domain, identity)
		}
	}
	return found, nil
}

func (d *discoverer) ingress(ctx context.Context, c ControlPlane) (ControlPlane, error) {
	var name string
	for _, ref := range d.state.Objects {
		if ref.Kind == "Ingress" && !strings.HasSuffix(ref.Name, "-grpc") {
			name = ref.Name
		}
	}
	if name == "" {
		return c, nil
	}
	live, err := d.control.Objects.Get(ctx, kube.Ref{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Namespace: d.namespace, Name: name})
	if err != nil {
		return c, err
	}
	rules, _, _ := unstructured.NestedSlice(live.Object, "spec", "rules")
	for _, rule := range rules {
		m, _ := asMap(rule)
		if host, ok := m["host"].(string); ok {
			c = c.WithHost(host)
		}
	}
	class, _, _ := unstructured.NestedString(live.Object, "spec", "ingressClassName")
	if class == "" {
		class = live.GetAnnotations()["kubernetes.io/ingress.class"]
	}
	annotations := live.GetAnnotations()
	switch {
	case annotations["alb.ingress.kubernetes.io/certificate-arn"] != "":
		alb := ALB(annotations["alb.ingress.kubernetes.io/certificate-arn"]).WithClass(class)
		if annotations["alb.ingress.kubernetes.io/scheme"] == "internet-facing" {
			alb = alb.InternetFacing()
		}
		if group := annotations["alb.ingress.kubernetes.io/group.name"]; group != "" {
			// Another group is another load balancer.
			alb = alb.WithGroup(group)
		}
		if annotations["alb.ingress.kubernetes.io/target-type"] == targetInstance {
			alb = alb.WithInstanceTargets()
		}
		return c.WithIngress(alb), nil
	case class != "":
		tls, _, _ := unstructured.NestedSlice(live.Object, "spec", "tls")
		for _, item := range tls {
			m, _ := asMap(item)
			secret, _ := m["secretName"].(string)
			return c.WithIngress(d.served(ctx, class, secret).withIssuerOf(annotations)), nil
		}
	}
	d.note("what serves the host cannot be told from Ingress %s; use WithIngress", name)
	return c, nil
}

// served is the ingress of a class, by what its IngressClass says of its
// controller, or else by its name.
func (d *discoverer) served(ctx context.Context, class, secret string) Ingress {
	controller := ""
	if live, err := d.control.Objects.Get(ctx, kube.Ref{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass", Name: class}); err == nil {
		controller, _, _ = unstructured.NestedString(live.Object, "spec", "controller")
	}
	switch {
	case class == "gce":
		return GKE(secret).InternetFacing()
	case class == "gce-internal":
		return GKE(secret)
	case controller == ingressTraefik.controllerName(), controller == "" && class == "traefik":
		return Traefik(secret).WithClass(class)
	}
	return NGINX(secret).WithClass(class)
}

// withIssuerOf keeps who makes the certificate.
func (i Ingress) withIssuerOf(annotations map[string]string) Ingress {
	switch {
	case annotations[issuerAnnotation+"cluster-issuer"] != "":
		return i.WithClusterIssuer(annotations[issuerAnnotation+"cluster-issuer"])
	case annotations[issuerAnnotation+"issuer"] != "":
		return i.WithIssuer(annotations[issuerAnnotation+"issuer"])
	}
	return i
}

// identity is what a ServiceAccount is annotated with.
func (d *discoverer) identity(ctx context.Context, cluster kube.Cluster, account string) (Identity, error) {
	live, err := cluster.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: d.namespace, Name: account})
	if errors.Is(err, planewright.ErrNotFound) {
		return NodeIdentity(), nil
	}
	if err != nil {
		return Identity{}, err
	}
	switch annotations := live.GetAnnotations(); {
	case annotations[awsRoleAnnotation] != "":
		return AWSRole(annotations[awsRoleAnnotation]), nil
	case annotations[gcpAnnotation] != "":
		return GCPServiceAccount(annotations[gcpAnnotation]), nil
	}
	return NodeIdentity(), nil
}

// fromAdmin reads projects and labels from flyteadmin, if it can be reached.
func (d *discoverer) fromAdmin(ctx context.Context, found Deployment) (Deployment, error) {
	if d.env.noAdmin {
		return found, nil
	}
	view := found.controlView()
	step := adminStep{binding: bind(view.Deployment, d.env, found.id()+"/"+view.id, view.recipe, secretKeys{}), dial: d.env.admin}
	err := step.connected(ctx, func(client *admin.Client) error {
		projects, err := client.Projects(ctx)
		if err != nil {
			return err
		}
		for _, p := range projects {
			project := NewProject(p.ID).WithDescription(p.Description)
			if p.Name != p.ID {
				project = project.WithTitle(p.Name)
			}
			if p.State == admin.ProjectArchived {
				project = project.Archived()
			}
			found = found.WithProjects(project)
		}
		rows, err := client.Attributes(ctx, admin.KindExecutionClusterLabel)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if label, ok := row.Attributes.(admin.ExecutionClusterLabel); ok {
				found = found.WithLabelMap(found.labels.with(LabelBinding{row.Scope.Project, row.Scope.Domain, row.Scope.Workflow, string(label)}))
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		d.note("flyteadmin was not asked for projects and labels: %v", err)
		err = nil
	}
	return found, err
}
