// Package cloudtest is the contract of package cloud's ports: what every
// adapter does alike, on the real thing, on its fake, and on the fake behind a
// wire.
//
//	func TestContract(t *testing.T) {
//		cloudtest.Run(t, func(t *testing.T) cloudtest.Fixture {
//			aws := eksfake.New("123456789012", "us-east-1", "main")
//			aws.PutBucket(eksfake.Bucket{Name: "acme-flyte"})
//			return cloudtest.Fixture{Account: aws.Account(), Cluster: "main", Bucket: "acme-flyte", …}
//		})
//	}
//
// For the fake behind a wire the account is eks.New(aws.ConfigAt(server.URL)),
// where the server has aws.Handler().
package cloudtest
