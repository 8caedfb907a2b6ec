// Command hosted uses a Flyte that somebody else runs: it looks whether it is
// there, how one logs in and which release it is, and writes the configuration
// of flytectl and pyflyte for it.
//
// Without flags it asks a Flyte in memory and writes into a folder that is
// removed at the end. With "-endpoint" it asks a real one, and writes below
// .flyte in the home folder, where a file that is there is kept as a backup.
// Where "-client-id" names an OAuth2 client, the checks log in; its secret comes
// from the environment variable FLYTE_CLIENT_SECRET. See -help.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"path/filepath"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/examples/internal/program"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
)

func main() { program.Main(new(demo).example()) }

// demo is one run of the program.
type demo struct {
	endpoint, clientID, home string
	hosted                   flyte.HostedFlyte
	env                      flyte.HostedEnv
	// scratch is a folder that is removed at the end.
	scratch string
}

func (d *demo) example() program.Example {
	return program.Example{
		Name:  "hosted",
		About: "uses a Flyte that somebody else runs",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&d.endpoint, "endpoint", "", "ask the Flyte at this `URL` instead of one in memory")
			set.StringVar(&d.clientID, "client-id", "", "log in as this OAuth2 `client`, whose secret is in FLYTE_CLIENT_SECRET")
			set.StringVar(&d.home, "home", "", "the `folder` that .flyte is in\n(default: with -endpoint the home folder, otherwise one that is removed at the end)")
		},
		Prepare: d.prepare,
		Close:   func() { _ = os.RemoveAll(d.scratch) },
		Stack:   func(program.World) planewright.Stack { return d.stack() },
	}
}

// stack is what should be so.
func (d *demo) stack() planewright.Stack {
	file := flyte.NewClientConfigFile(filepath.Join(d.home, ".flyte", "config.yaml"), d.hosted.ClientConfig())
	return d.hosted.On(d.env).WithSteps(file.Step("flyte/" + d.hosted.Name() + "/client-config"))
}

func (d *demo) prepare(_ context.Context, world program.World) (program.World, error) {
	remote := d.endpoint != ""
	credentials := admin.ClientCredentials{ID: d.clientID, Secret: planewright.SecretFromEnv("FLYTE_CLIENT_SECRET")}
	if !remote {
		d.endpoint = "https://flyte.acme.example"
		credentials = admin.ClientCredentials{ID: "checks", Secret: planewright.SecretValue("made-up")}
		fake := adminfake.New(adminfake.WithAuth(adminfake.Auth{ClientID: credentials.ID, ClientSecret: "made-up"}))
		d.env = d.env.WithHTTPClient(&http.Client{Transport: fake})
	}
	d.hosted = flyte.Hosted(d.endpoint)
	if credentials.ID != "" {
		d.hosted = d.hosted.WithClientCredentials(credentials)
	}
	var err error
	switch {
	case d.home != "":
	case remote:
		d.home, err = os.UserHomeDir()
	default:
		d.scratch, err = os.MkdirTemp("", "hosted")
		d.home = d.scratch
	}
	return world, err
}
