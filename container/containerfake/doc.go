// Package containerfake is a container engine in memory. It is a
// [container.Engine], and [Fake.Handler] serves it as the Docker Engine API, so that
// real clients can talk to it.
//
//	engine := containerfake.New(
//		containerfake.WithRegistry("example.com/app:1", containerfake.Image{
//			Serves: map[int]http.Handler{8080: app},
//		}))
//	client := &http.Client{Transport: engine.Transport()}
//
// Images come from a registry that has what [WithRegistry] says; containers
// that run serve what their image does at the ports that are published, to
// whoever uses [Fake.Transport]. Faults are injected by [Fake.Fail].
//
// # What is more lenient than an engine
//
//   - Nothing runs: a container serves as soon as it is started, until
//     [Fake.Exit]. Images have no layers, no size and no digest.
//   - Folders that are mounted need not exist; names are not checked.
//   - Ports are taken by other containers and by [WithTakenPorts] only, and at
//     any address.
package containerfake
