package flyte

import "github.com/planewright/planewright/flyte/admin"

// adminOptions log a client of flyteadmin's in, which is at an address of this machine.
func (a Auth) adminOptions(address string) []admin.Option {
	if a.IsZero() {
		return nil
	}
	credentials := admin.ClientCredentials{ID: a.machineID(), Secret: a.machineSecret}
	if s := a.external; s.set {
		credentials.Audience, credentials.Scopes = s.audience, s.scopes
	} else {
		// What flyteadmin tells is below its public host, which this machine may not reach.
		credentials.TokenURL = address + "/oauth2/token"
	}
	return []admin.Option{admin.WithClientCredentials(credentials)}
}
