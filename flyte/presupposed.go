package flyte

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// presupposed are the questions about what a deployment needs and does not
// make: its cluster and its buckets, if the cloud is known, and its database, if
// the Env has a dialer.
func (b binding) presupposed(env Env) []planewright.Probe {
	var probes []planewright.Probe
	where, inCloud := env.clouds[b.Deployment.cluster]
	if inCloud && where.Account.Clusters != nil {
		probes = append(probes, cloud.ProbeCluster(b.step("preflight/cloud-cluster"), where))
	}
	if inCloud && where.Account.Buckets != nil && b.storage.on(where.Account.Provider) {
		probes = append(probes, cloud.ProbeBuckets(b.step("preflight/buckets"), where.Account, b.bucketNeeds()...))
	}
	if env.dialer != nil {
		probes = append(probes, cloud.ProbePostgres(b.step("preflight/database"), env.dialer, b.database.need()))
	}
	return probes
}

func (b binding) bucketNeeds() []cloud.BucketNeed {
	var needs []cloud.BucketNeed
	for _, access := range b.bucketAccess() {
		needs = append(needs, cloud.BucketNeed{Name: access.Bucket, Location: b.storage.region, KMSKey: b.storage.kmsKey})
	}
	return needs
}

func (d Database) need() cloud.PostgresNeed {
	return cloud.PostgresNeed{
		Host: d.host, Port: d.port, User: d.user, Database: d.name,
		TLS:         d.tls != TLSDisable,
		Verify:      d.tls == TLSVerifyFull,
		Authorities: []byte(d.rootCA),
	}
}
