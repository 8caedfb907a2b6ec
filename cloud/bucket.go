package cloud

import "context"

// Buckets is the port to an account's object storage. It only looks: buckets
// are never made here. Its errors are [*CallError].
type Buckets interface {
	// Describe returns a bucket. The error matches planewright.ErrNotFound if
	// there is none, planewright.ErrDenied if it is another account's or may
	// not be looked at.
	Describe(ctx context.Context, name string) (Bucket, error)
}

// Bucket is what a cloud tells of a bucket. A question that the credentials
// may not ask is named in Unknown.
type Bucket struct {
	Name string
	// Location is its region; on Google it may be a multi-region ("eu").
	Location string
	// OwnedBy is the id of the account or the number of the project that owns it.
	OwnedBy string
	// Ours tells whether the owner is the account that was asked.
	Ours bool
	// Public tells whether its policy opens it to everybody;
	// PublicAccessBlocked whether the cloud refuses to let it be opened.
	Public, PublicAccessBlocked bool
	// KMSKey is the customer's key it is encrypted with by default, empty for
	// the cloud's own. KMSKeyUsable tells whether that key is enabled.
	KMSKey       string
	KMSKeyUsable bool
	// Unknown lists what could not be asked: field name to reason.
	Unknown map[string]string
}
