package kubestack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Clients are not slowed down: there is nobody to protect from them, and what waits
// in a client's queue looks like a slow server.
const (
	clientQPS   = "1000"
	clientBurst = "2000"
)

// cluster is one running cluster.
type cluster struct {
	Cluster
	bin       Binaries
	dir       *folder
	processes *processes
	log       progress

	port        *reservedPort
	credentials *credentials
	kubeconfig  *clientcmdapi.Config // of the administrator
	rest        *rest.Config
	client      kubernetes.Interface
	apiServer   *process
}

// start starts the cluster's processes and waits until a workload could be applied.
func (c *cluster) start(ctx context.Context) error {
	begin := time.Now()
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	c.log.printf("%s: the API server serves on port %d after %s", c.Name, c.port.number, time.Since(begin).Round(time.Millisecond))

	// The three would only ask an API server that is not ready again and again.
	controllerManager, err := c.startClient(KubeControllerManager, c.credentials.controllerManager, c.controllerManagerFlags()...)
	if err != nil {
		return err
	}
	if _, err := c.startClient(KubeScheduler, c.credentials.scheduler, c.schedulerFlags()...); err != nil {
		return err
	}
	kwok, err := c.startKwok()
	if err != nil {
		return err
	}
	if err := c.createNodes(ctx); err != nil {
		return err
	}
	if err := c.createStorageClass(ctx); err != nil {
		return err
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return controllerManager.await(ctx, c.defaultServiceAccount) })
	group.Go(func() error { return kwok.await(ctx, c.nodesReady) })
	if err := group.Wait(); err != nil {
		return err
	}
	c.log.printf("%s: ready after %s", c.Name, time.Since(begin).Round(time.Millisecond))
	return nil
}

// startAPIServer makes all that the API server needs, starts it and waits until it
// is ready, its bootstrap roles included.
func (c *cluster) startAPIServer(ctx context.Context) error {
	if err := os.Mkdir(c.path(""), 0o700); err != nil {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	var err error
	if c.credentials, err = newCredentials(c.Name); err != nil {
		return err
	}
	if err := c.credentials.write(c.path); err != nil {
		return err
	}
	if c.port, err = reservePort(); err != nil {
		return err
	}
	c.kubeconfig = kubeconfig(c.Name, c.server(), c.credentials.ca.certificate, c.credentials.admin)
	if err := writeKubeconfig(c.path("kubeconfig"), c.kubeconfig); err != nil {
		return err
	}
	if c.rest, err = clientcmd.NewDefaultClientConfig(*c.kubeconfig, nil).ClientConfig(); err != nil {
		return fmt.Errorf("configure a client: %w", err)
	}
	c.rest.QPS = -1 // see clientQPS
	if c.client, err = kubernetes.NewForConfig(c.rest); err != nil {
		return fmt.Errorf("configure a client: %w", err)
	}
	if c.apiServer, err = c.startProgram(KubeAPIServer, c.apiServerFlags()...); err != nil {
		return err
	}
	return c.apiServer.await(ctx, c.apiServerReady)
}

// apiServerReady asks the API server whether it is ready.
func (c *cluster) apiServerReady(ctx context.Context) error {
	answer, err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	switch {
	case err == nil:
		return nil
	case len(answer) > 0: // it names the checks that fail
		return fmt.Errorf("ask for readiness: %w: %s", err, answer)
	default:
		return fmt.Errorf("ask for readiness: %w", err)
	}
}

// server returns the API server's address.
func (c *cluster) server() string {
	return "https://127.0.0.1:" + strconv.Itoa(c.port.number)
}

// path returns the path of a file in the cluster's folder.
func (c *cluster) path(name string) string { return c.dir.join("clusters", c.Name, name) }

// startProgram starts one of the cluster's programs.
func (c *cluster) startProgram(p Program, flags ...string) (*process, error) {
	return c.processes.start(command{
		name:    fmt.Sprintf("%s of cluster %s", p, c.Name),
		path:    c.bin.Path(p),
		args:    flags,
		dir:     c.path(""),
		logFile: c.dir.logFile(p, c.Name),
	})
}

// startClient starts a program that is a client of the API server.
func (c *cluster) startClient(p Program, pair keyPair, flags ...string) (*process, error) {
	file := c.path(string(p) + ".kubeconfig")
	if err := writeKubeconfig(file, kubeconfig(c.Name, c.server(), c.credentials.ca.certificate, pair)); err != nil {
		return nil, err
	}
	return c.startProgram(p, append(flags, "--kubeconfig="+file)...)
}

// startKwok starts the fake kubelets.
func (c *cluster) startKwok() (*process, error) {
	own := c.path("stages.yaml")
	if err := writeOwnStages(own); err != nil {
		return nil, err
	}
	return c.startClient(Kwok, c.credentials.kwok,
		"--manage-all-nodes",
		"--node-ip=127.0.0.1",
		"--node-lease-duration-seconds=40",
		"--config="+c.bin.stages(),
		"--config="+own)
}

// apiServerFlags returns the flags of the API server.
func (c *cluster) apiServerFlags() []string {
	return append([]string{
		"--etcd-servers=unix://" + c.dir.etcdSocket(),
		"--etcd-prefix=/" + c.Name,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port.number),
		"--permit-port-sharing", // with the reservation of the port
		"--advertise-address=127.0.0.1",
		// Nothing in the cluster could reach the endpoints of the kubernetes Service, and
		// a loopback address is refused there.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=RBAC",
		"--allow-privileged", // as every installer sets it
		"--client-ca-file=" + c.path(caFile),
		"--tls-cert-file=" + c.path(serverFile),
		"--tls-private-key-file=" + c.path(serverKeyFile),
		// An issuer per cluster, as managed clusters have, that serves its own discovery document.
		"--service-account-issuer=" + c.server(),
		"--service-account-key-file=" + c.path(serviceAccountKeyFile),
		"--service-account-signing-key-file=" + c.path(serviceAccountKeyFile),
		"--profiling=false",
	}, c.APIServerFlags...)
}

// controllerManagerFlags returns the flags of the controller manager.
func (c *cluster) controllerManagerFlags() []string {
	return []string{
		"--leader-elect=false",
		"--secure-port=0", // nobody asks it anything
		"--root-ca-file=" + c.path(caFile),
		"--service-account-private-key-file=" + c.path(serviceAccountKeyFile),
		"--cluster-signing-cert-file=" + c.path(caFile),
		"--cluster-signing-key-file=" + c.path(caKeyFile),
		// Each controller acts under its own role, as installers set it up.
		"--use-service-account-credentials",
		"--kube-api-qps=" + clientQPS,
		"--kube-api-burst=" + clientBurst,
		"--profiling=false",
	}
}

// schedulerFlags returns the flags of the scheduler.
func (c *cluster) schedulerFlags() []string {
	return []string{
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=" + clientQPS,
		"--kube-api-burst=" + clientBurst,
		"--profiling=false",
	}
}

// close gives back what the cluster holds besides its processes and files.
func (c *cluster) close() error {
	if c.port == nil {
		return nil
	}
	if err := c.port.release(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("release the port of cluster %s: %w", c.Name, err)
	}
	return nil
}
