package flyte

import (
	"strings"

	"github.com/planewright/planewright/kube"
)

const (
	// databaseVolume is the volume with what Flyte needs to reach its database.
	databaseVolume = "flyte-database"
	databaseMount  = "/etc/flyte/database"
	passwordKey    = "password"
	passwordPath   = databaseMount + "/" + passwordKey
	// corePasswordKey and coreDatabaseMount are where flyte-core has them.
	corePasswordKey   = "pass.txt"
	coreDatabaseMount = "/etc/db"
	rootCAKey         = "ca.crt"
	// storageConfigKey is the configuration file with the storage's keys. It
	// sorts after the chart's own, so that it is read last.
	storageConfigKey = "110-storage-keys.yaml"
	// coreStorageKey is the file that flyte-core reads all of it from.
	coreStorageKey = "storage.yaml"
)

// The annotations of pods that tell which content of a Secret they started
// with. When it changes, the pods are replaced.
const (
	databaseRevisionAnnotation = "planewright.dev/database-revision"
	storageRevisionAnnotation  = "planewright.dev/storage-revision"
	// credentialsRevisionAnnotation is on what reads the data planes' tokens when it starts.
	credentialsRevisionAnnotation = "planewright.dev/credentials-revision"
)

// revisions are the revisions of the Secrets that pods must have seen.
type revisions struct {
	database, storage, auth string
}

// typedValues returns the values that the deployment sets itself, over those
// of the chart's overlay. What is null in them takes away a value of the overlay.
func (d Deployment) typedValues(overlay, defaults kube.Values, revisions revisions) kube.Values {
	v := &layer{values: kube.Values{}}
	d.setDatabase(v)
	d.setStorage(v)
	d.setAuth(v)
	d.setPlugins(v, defaults)
	v.set("configuration.logging.plugins", d.logLinks.values())
	if _, ok := defaults.Get("configuration.agentService"); ok {
		// So it is called before v1.16.0.
		v.set("configuration.agentService.defaultAgent.endpoint", "k8s://flyteagent."+d.namespace+":8000")
	} else {
		v.set("configuration.connectorService.defaultConnector.endpoint", "k8s://flyteconnector."+d.namespace+":8000")
	}
	d.ingress.setBinary(v, d.host, overlay, defaults)
	d.setProjects(v)
	d.setTemplates(v, overlay)
	d.setServiceAccount(v)
	d.setPods(v, revisions)
	d.setImages(v, defaults)
	return v.values
}

func (d Deployment) setDatabase(v *layer) {
	db := d.database
	database := map[string]any{
		"host":     db.host,
		"port":     int64(db.port),
		"dbname":   db.name,
		"username": db.user,
		"options":  db.options(),
		"password": "",
	}
	if !db.password.IsZero() {
		database["passwordPath"] = passwordPath
	}
	v.set("configuration.database", database)
}

func (d Deployment) setStorage(v *layer) {
	s := d.storage
	v.set("configuration.storage.provider", s.provider)
	v.set("configuration.storage.metadataContainer", s.bucket)
	v.set("configuration.storage.userDataContainer", s.UserDataBucket())
	if s.UserDataBucket() != s.bucket {
		// Flyte's storage opens its own bucket and no other unless it is told to.
		v.set("configuration.inline.storage.enable-multicontainer", true)
	}
	if s.provider == providerGCS {
		v.set("configuration.storage.providerConfig.gcs.project", s.project)
		return
	}
	config := map[string]any{
		"region":   s.region,
		"authType": "iam",
	}
	if s.compatible {
		config["endpoint"] = strings.TrimSuffix(s.endpoint, "/")
		config["disableSSL"] = strings.HasPrefix(s.endpoint, "http://")
	}
	v.set("configuration.storage.providerConfig.s3", config)
	if name := d.storageSecretName(); name != "" {
		// With authType accesskey the chart wants the keys among its values.
		// So the configuration says it, and the Secret adds the keys to it.
		v.set("configuration.inline.storage.stow.config.auth_type", "accesskey")
		v.set("configuration.inlineSecretRef", name)
	}
}

func (d Deployment) setProjects(v *layer) {
	if len(d.projects) > 0 {
		names, details := make([]any, len(d.projects)), make([]any, len(d.projects))
		for i, p := range d.projects {
			description := p.description
			if description == "" {
				description = p.name + " project"
			}
			names[i] = p.name
			details[i] = map[string]any{"name": p.name, "description": description}
		}
		// Both lists: with the first one empty, Flyte makes its example project.
		v.set("flyte-core-components.admin.seedProjects", names)
		v.set("flyte-core-components.admin.seedProjectsWithDetails", details)
	}
	if len(d.domains) > 0 {
		v.set("configuration.inline.domains", d.domainValues())
	}
	if d.mapping != "" {
		v.set("configuration.inline.namespace_mapping.template", d.mapping)
	}
}

// domainValues are the domains as flyteadmin's configuration lists them.
func (d Deployment) domainValues() []any {
	var list []any
	for _, domain := range d.Domains() {
		list = append(list, map[string]any{"id": domain, "name": domain})
	}
	return list
}

func (d Deployment) setTemplates(v *layer, overlay kube.Values) {
	v.set("configuration.inline.cluster_resources.customData", nil)
	if data := d.customData(); len(data) > 0 {
		v.set("configuration.inline.cluster_resources.customData", data)
	}
	inline := map[string]any{}
	var below map[string]any
	if value, ok := overlay.Get("clusterResourceTemplates.inline"); ok {
		below, _ = asMap(value)
	}
	switch _, has := below[accountTemplate]; {
	case d.hasUserIdentity():
		inline[accountTemplate] = d.accountTemplateText()
	case has:
		// It annotates with an identity that there is none of.
		inline[accountTemplate] = nil
	}
	for _, t := range d.templates {
		inline[t.name] = t.text
	}
	if _, has := below[namespaceTemplate]; !has && inline[namespaceTemplate] == nil && len(inline) > 0 {
		// The chart makes namespaces by itself only as long as there is no other template.
		inline[namespaceTemplate] = namespaceTemplateText
	}
	if len(inline) > 0 {
		v.set("clusterResourceTemplates.inline", inline)
	}
	if rules := d.allRules(); len(rules) > 0 {
		var list []any
		if value, ok := overlay.Get("rbac.extraRules"); ok {
			list, _ = value.([]any)
		}
		list = append([]any(nil), list...)
		for _, r := range rules {
			list = append(list, r.values())
		}
		v.set("rbac.extraRules", list)
	}
}

func (d Deployment) setServiceAccount(v *layer) {
	v.set("serviceAccount.annotations", nil)
	if len(d.identity.annotations) > 0 {
		annotations := map[string]any{}
		for key, value := range d.identity.annotations {
			annotations[key] = value
		}
		v.set("serviceAccount.annotations", annotations)
	}
	if len(d.pullSecrets) > 0 {
		list := make([]any, len(d.pullSecrets))
		for i, name := range d.pullSecrets {
			list[i] = map[string]any{"name": name}
		}
		v.set("serviceAccount.imagePullSecrets", list)
	}
}

func (d Deployment) setPods(v *layer, revisions revisions) {
	if !d.requests.IsZero() || !d.limits.IsZero() {
		resources := map[string]any{}
		if !d.requests.IsZero() {
			resources["requests"] = d.requests.values()
		}
		if !d.limits.IsZero() {
			resources["limits"] = d.limits.values()
		}
		v.set("deployment.resources", resources)
	}
	if spec := d.placement.podSpec(); len(spec) > 0 {
		v.set("deployment.extraPodSpec", spec)
	}
	annotations := map[string]any{}
	if revisions.database != "" {
		annotations[databaseRevisionAnnotation] = revisions.database
	}
	if revisions.storage != "" {
		annotations[storageRevisionAnnotation] = revisions.storage
	}
	if revisions.auth != "" {
		annotations[authRevisionAnnotation] = revisions.auth
	}
	if len(annotations) > 0 {
		v.set("deployment.podAnnotations", annotations)
	}
	if volume := d.databaseVolume(); volume != nil {
		v.set("deployment.extraVolumes", []any{volume})
		v.set("deployment.extraVolumeMounts", []any{databaseVolumeMount()})
	}
}

// databaseVolume is the volume that holds the database's password and
// certificate authorities, nil if there are none.
func (d Deployment) databaseVolume() map[string]any {
	source := func(secret, key, path string) any {
		return map[string]any{"secret": map[string]any{
			"name":  secret,
			"items": []any{map[string]any{"key": key, "path": path}},
		}}
	}
	var sources []any
	if ref, ok := d.database.password.InCluster(); ok {
		sources = append(sources, source(ref.SecretName, ref.Key, passwordKey))
	} else if !d.database.password.IsZero() {
		sources = append(sources, source(d.databaseSecretName(), passwordKey, passwordKey))
	}
	if d.database.rootCA != "" {
		sources = append(sources, source(d.databaseSecretName(), rootCAKey, rootCAKey))
	}
	if sources == nil {
		return nil
	}
	return map[string]any{"name": databaseVolume, "projected": map[string]any{"sources": sources}}
}

func databaseVolumeMount() map[string]any {
	return map[string]any{"name": databaseVolume, "mountPath": databaseMount, "readOnly": true}
}

// neededItem is an entry of a list that the deployment cannot do without.
type neededItem struct {
	path, name string
	item       any
}

// neededItems returns the entries that raw values must not drop.
func (d Deployment) neededItems() []neededItem {
	volume := d.databaseVolume()
	if volume == nil {
		return nil
	}
	return []neededItem{
		{"deployment.extraVolumes", databaseVolume, volume},
		{"deployment.extraVolumeMounts", databaseVolume, databaseVolumeMount()},
	}
}

// imageValues are the values that name the chart's images.
func imageValues() []string {
	return []string{
		"deployment.image.repository",
		"deployment.waitForDB.image.repository",
		"configuration.co-pilot.image.repository",
		"console.image.repository",
	}
}

// setImages points the images that the chart names to the deployment's registry.
func (d Deployment) setImages(v *layer, defaults kube.Values) {
	if d.registry == "" {
		return
	}
	for _, path := range imageValues() {
		value, _ := defaults.Get(path)
		if repository, ok := value.(string); ok && repository != "" {
			v.set(path, d.registry+"/"+withoutRegistry(repository))
		}
	}
}

// withoutRegistry takes the registry's host off an image's name, and writes
// out the name that Docker Hub's own images are short for.
func withoutRegistry(repository string) string {
	first, rest, ok := strings.Cut(repository, "/")
	switch {
	case !ok:
		return "library/" + repository
	case strings.ContainsAny(first, ".:") || first == "localhost":
		return rest
	}
	return repository
}
