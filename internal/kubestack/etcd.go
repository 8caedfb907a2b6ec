package kubestack

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// startEtcd starts the etcd that all clusters of a stack share, and waits until
// it answers.
func startEtcd(ctx context.Context, bin Binaries, dir *folder, ps *processes) error {
	client := "unix://" + dir.etcdSocket()
	peer := "unix://" + dir.join("etcd-peer.sock")
	p, err := ps.start(command{
		name:    string(Etcd),
		path:    bin.Path(Etcd),
		dir:     dir.path,
		logFile: dir.logFile(Etcd, ""),
		args: []string{
			"--name=etcd",
			"--data-dir=" + dir.join("etcd"),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=etcd=" + peer,
			// The data need not survive a power failure, and waiting for the disk is
			// most of what a write costs.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
	})
	if err != nil {
		return err
	}
	http := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", dir.etcdSocket())
		},
		DisableKeepAlives: true,
	}}
	return p.await(ctx, func(ctx context.Context) error { return healthy(ctx, http) })
}

// healthy asks etcd whether it can serve.
func healthy(ctx context.Context, client http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://etcd/health", nil)
	if err != nil {
		return fmt.Errorf("ask for etcd's health: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask for etcd's health: %w", err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd's health: %s", response.Status)
	}
	return nil
}
