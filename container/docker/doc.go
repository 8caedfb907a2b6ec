// Package docker is the adapter of package container's ports to the Docker
// Engine API, through the Docker project's own Go client. Podman's service
// speaks the same API.
//
//	engine := docker.New(docker.Sockets(os.Getenv)...)
//
// Nothing is dialled before the first call. An engine is looked for at each
// socket in turn, and the first that answers is used from then on. Sockets of
// this machine only are taken: what is installed publishes ports there, and
// mounts folders of it.
package docker
