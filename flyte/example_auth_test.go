package flyte_test

import (
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
)

// People log in at Okta, machines at flyteadmin itself.
func ExampleOIDC() {
	deployment := flyte.NewDeployment("ml", flyte.V1_16_8).
		WithStorage(flyte.S3("acme-flyte", "us-east-1")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretFromEnv("FLYTE_DB"))).
		WithControlPlane(flyte.NewControlPlane("flyte-control").
			WithHost("flyte.acme.example").
			WithIngress(flyte.NGINX("flyte-tls"))).
		WithDataplanes(flyte.NewDataplane("dp-1", "flyte-dp-1")).
		WithAuth(flyte.OIDC("https://acme.okta.example", "0oa1flyte",
			planewright.SecretFromEnv("FLYTE_OIDC_SECRET"), planewright.SecretFromEnv("FLYTE_MACHINE_SECRET")))

	if err := deployment.Validate(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("register at the provider:", deployment.RedirectURI())
	// Output:
	// register at the provider: https://flyte.acme.example/callback
}
