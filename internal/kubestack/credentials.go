package kubestack

import (
	"fmt"
	"net"
	"os"

	"k8s.io/client-go/util/keyutil"
)

const (
	// adminsGroup may do anything; the API server has that built in.
	adminsGroup = "system:masters"

	serviceRange = "10.96.0.0/16"
	// serviceAddress is the first of the range: the kubernetes Service has it.
	serviceAddress = "10.96.0.1"
)

// credentials are what proves who is who in one cluster.
type credentials struct {
	ca                keyPair
	server            keyPair
	serviceAccountKey []byte
	admin             keyPair
	controllerManager keyPair
	scheduler         keyPair
	kwok              keyPair
}

// newCredentials makes the credentials of a cluster; nothing in them is shared
// with another one.
func newCredentials(cluster string) (*credentials, error) {
	a, err := newAuthority(cluster)
	if err != nil {
		return nil, err
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	c := &credentials{}
	if c.serviceAccountKey, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return nil, fmt.Errorf("encode the service account key: %w", err)
	}
	if c.ca, err = a.pair(); err != nil {
		return nil, err
	}
	c.server, err = a.server(
		[]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost"},
		[]net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(serviceAddress)})
	if err != nil {
		return nil, err
	}
	for _, client := range []struct {
		pair   *keyPair
		user   string
		groups []string
	}{
		{&c.admin, "kubernetes-admin", []string{adminsGroup}},
		// The bootstrap policy gives these two users just what they need.
		{&c.controllerManager, "system:kube-controller-manager", nil},
		{&c.scheduler, "system:kube-scheduler", nil},
		// kwok is every node at once and more: no role describes it.
		{&c.kwok, "kwok", []string{adminsGroup}},
	} {
		if *client.pair, err = a.client(client.user, client.groups...); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// The files that processes read credentials from, in their cluster's folder.
const (
	caFile                = "ca.crt"
	caKeyFile             = "ca.key"
	serverFile            = "server.crt"
	serverKeyFile         = "server.key"
	serviceAccountKeyFile = "service-account.key"
)

// write writes the files into a folder.
func (c *credentials) write(path func(name string) string) error {
	for name, content := range map[string][]byte{
		caFile:                c.ca.certificate,
		caKeyFile:             c.ca.key,
		serverFile:            c.server.certificate,
		serverKeyFile:         c.server.key,
		serviceAccountKeyFile: c.serviceAccountKey,
	} {
		if err := os.WriteFile(path(name), content, 0o600); err != nil {
			return fmt.Errorf("write credentials: %w", err)
		}
	}
	return nil
}
