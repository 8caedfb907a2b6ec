package cloud

// The codes of the findings that this package makes. They are stable, so that
// programs can tell findings apart.
const (
	// CodeCluster: a cluster is not there, or cannot be used.
	CodeCluster = "cloud-cluster"
	// CodePrivateEndpoint: a cluster's API is reached from inside its network only.
	CodePrivateEndpoint = "private-endpoint"
	// CodeBucketMissing: a bucket does not exist.
	CodeBucketMissing = "bucket-missing"
	// CodeBucketOwner: a bucket is another account's.
	CodeBucketOwner = "bucket-owner"
	// CodeBucketLocation: a bucket is in another region than is said or than its cluster.
	CodeBucketLocation = "bucket-location"
	// CodeBucketPublic: a bucket is, or could be made, readable by everybody.
	CodeBucketPublic = "bucket-public"
	// CodeBucketKey: a bucket is encrypted with a key that the identities
	// have no right to, or that is disabled.
	CodeBucketKey = "bucket-key"
	// CodeBucketUnprobed: something about a bucket may not be asked.
	CodeBucketUnprobed = "bucket-unprobed"
	// CodeDatabase: the database does not answer, or not as it must.
	CodeDatabase = "database"
	// CodeDatabaseTLS: the database's certificate does not hold.
	CodeDatabaseTLS = "database-tls"
	// CodeDatabaseUnprobed: the database cannot be asked from here.
	CodeDatabaseUnprobed = "database-unprobed"
)
