package kubestack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// patience bounds every wait in these tests; on an idle machine each takes a second or less.
const patience = 60 * time.Second

func TestStack(t *testing.T) {
	bin := builtBinaries(t)
	stack, err := Start(t.Context(), Config{
		Clusters: []Cluster{{Name: "alpha"}, {Name: "beta", Nodes: 1, NodeArch: "arm64"}},
		Binaries: bin,
		Log:      t.Output(),
	})
	require.NoError(t, err)
	defer stack.Stop()
	processes := stack.processes.running

	t.Run("clusters", func(t *testing.T) {
		t.Run("version", func(t *testing.T) { t.Parallel(); testVersion(t, stack) })
		t.Run("nodes", func(t *testing.T) { t.Parallel(); testNodes(t, stack) })
		t.Run("roles are enforced", func(t *testing.T) { t.Parallel(); testRoles(t, stack) })
		t.Run("tokens stay in their cluster", func(t *testing.T) { t.Parallel(); testTokens(t, stack) })
		t.Run("certificates stay in their cluster", func(t *testing.T) { t.Parallel(); testCertificates(t, stack) })
		t.Run("deployment becomes available", func(t *testing.T) { t.Parallel(); testDeployment(t, stack) })
		t.Run("image never pulls", func(t *testing.T) { t.Parallel(); testNeverPulls(t, stack) })
		t.Run("claim gets a volume", func(t *testing.T) { t.Parallel(); testVolume(t, stack) })
		t.Run("namespace goes", func(t *testing.T) { t.Parallel(); testNamespace(t, stack) })
	})
	t.Run("pause and resume", func(t *testing.T) { testPause(t, stack) })
	t.Run("unknown cluster", func(t *testing.T) {
		require.ErrorContains(t, stack.Pause("gamma"), `"gamma"`)
		require.NoFileExists(t, stack.Kubeconfig("gamma"))
	})

	require.NoError(t, stack.Err())
	require.NoError(t, stack.Stop())
	require.Len(t, processes, 1+2*4)
	for _, p := range processes {
		require.ErrorIs(t, syscall.Kill(p.cmd.Process.Pid, 0), syscall.ESRCH, "%s still runs", p.name)
	}
	require.NoDirExists(t, stack.dir.path)
	require.NoError(t, stack.Err(), "to be stopped is not to fail")
	require.NoError(t, stack.Stop(), "stopping twice is fine")
}

func TestStartNamesTheProcessToBlame(t *testing.T) {
	bin := builtBinaries(t)
	_, err := Start(t.Context(), Config{
		Clusters: []Cluster{{Name: "alpha", APIServerFlags: []string{"--no-such-flag"}}},
		Binaries: bin,
		LogDir:   t.TempDir(),
	})
	var failure *ProcessError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "kube-apiserver of cluster alpha", failure.Process)
	require.Contains(t, failure.Tail, "unknown flag: --no-such-flag")
	require.FileExists(t, failure.LogFile)
}

func TestStartEndsWithItsContext(t *testing.T) {
	bin := builtBinaries(t)
	why := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := Start(ctx, Config{Clusters: Named("alpha"), Binaries: bin})
	require.ErrorIs(t, err, why)
}

// builtBinaries returns the programs, and builds them where that has not happened yet.
func builtBinaries(t *testing.T) Binaries {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	bin, err := Build(t.Context(), Options{Log: t.Output()})
	require.NoError(t, err)
	return bin
}

// admin returns a client of a cluster from its kubeconfig.
func admin(t *testing.T, stack *Stack, cluster string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", stack.Kubeconfig(cluster))
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// eventually polls until the condition returns nil.
func eventually(t *testing.T, condition func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, poll(ctx, condition))
}

func testVersion(t *testing.T, stack *Stack) {
	want, err := KubernetesVersion()
	require.NoError(t, err)
	for _, cluster := range stack.Clusters() {
		got, err := admin(t, stack, cluster).Discovery().ServerVersion()
		require.NoError(t, err)
		require.Equal(t, want, got.GitVersion)
		require.Equal(t, strings.Split(want, ".")[1], got.Minor)
	}
	all, err := clientcmd.LoadFromFile(stack.KubeconfigAll())
	require.NoError(t, err)
	require.Len(t, all.Contexts, 2)
	require.Equal(t, "alpha", all.CurrentContext)
}

func testNodes(t *testing.T, stack *Stack) {
	for cluster, want := range map[string]struct {
		nodes int
		arch  string
	}{"alpha": {3, "amd64"}, "beta": {1, "arm64"}} {
		nodes, err := admin(t, stack, cluster).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, nodes.Items, want.nodes)
		for _, node := range nodes.Items {
			require.Equal(t, want.arch, node.Status.NodeInfo.Architecture)
			require.Equal(t, want.arch, node.Labels[corev1.LabelArchStable])
		}
	}
}

func testRoles(t *testing.T, stack *Stack) {
	config, err := stack.RESTConfig("alpha")
	require.NoError(t, err)
	config.Impersonate.UserName = "system:serviceaccount:default:default"
	config.Impersonate.Groups = []string{"system:serviceaccounts", "system:authenticated"}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "got %v", err)
}

func testTokens(t *testing.T, stack *Stack) {
	alpha := admin(t, stack, "alpha")
	_, err := alpha.CoreV1().ServiceAccounts("default").Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	secret, err := alpha.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "robot", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func(ctx context.Context) error {
		secret, err = alpha.CoreV1().Secrets("default").Get(ctx, "robot", metav1.GetOptions{})
		if err == nil && len(secret.Data[corev1.ServiceAccountTokenKey]) == 0 {
			err = errors.New("the Secret has no token yet")
		}
		return err
	})
	token := string(secret.Data[corev1.ServiceAccountTokenKey])

	user, err := whoami(t, stack, "alpha", func(c *rest.Config) { c.BearerToken = token })
	require.NoError(t, err)
	require.Equal(t, "system:serviceaccount:default:robot", user)

	_, err = whoami(t, stack, "beta", func(c *rest.Config) { c.BearerToken = token })
	require.True(t, apierrors.IsUnauthorized(err), "got %v", err)
}

func testCertificates(t *testing.T, stack *Stack) {
	alpha, err := stack.RESTConfig("alpha")
	require.NoError(t, err)
	_, err = whoami(t, stack, "beta", func(c *rest.Config) {
		c.CertData, c.KeyData = alpha.CertData, alpha.KeyData
	})
	require.True(t, apierrors.IsUnauthorized(err), "got %v", err)

	_, err = whoami(t, stack, "beta", func(c *rest.Config) { c.CAData = alpha.CAData })
	require.ErrorContains(t, err, "x509", "the servers' authorities differ, too")
}

// whoami asks a cluster who the user is with the credentials that use sets.
func whoami(t *testing.T, stack *Stack, cluster string, use func(*rest.Config)) (string, error) {
	t.Helper()
	full, err := stack.RESTConfig(cluster)
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(full)
	use(config)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}

// deploy creates a Deployment.
func deploy(t *testing.T, client kubernetes.Interface, name, image string, replicas int32) {
	t.Helper()
	labels := map[string]string{"app": name}
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "init", Image: "example.com/init:v1"}},
					Containers:     []corev1.Container{{Name: "main", Image: image}, {Name: "sidecar", Image: "example.com/sidecar:v1"}},
				},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// available returns nil when all replicas of a Deployment are available.
func available(ctx context.Context, client kubernetes.Interface, name string) error {
	d, err := client.AppsV1().Deployments("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if d.Status.AvailableReplicas != *d.Spec.Replicas {
		return fmt.Errorf("%d of %d replicas of %s are available", d.Status.AvailableReplicas, *d.Spec.Replicas, name)
	}
	return nil
}

func testDeployment(t *testing.T, stack *Stack) {
	for _, cluster := range stack.Clusters() {
		client := admin(t, stack, cluster)
		deploy(t, client, "web", "example.com/web:v1", 3)
		eventually(t, func(ctx context.Context) error { return available(ctx, client, "web") })
	}
}

func testNeverPulls(t *testing.T, stack *Stack) {
	client := admin(t, stack, "alpha")
	deploy(t, client, "stuck", NeverPulls+"/web:v1", 1)
	var pod corev1.Pod
	eventually(t, func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=stuck"})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) == 0 {
			return errors.New("no pod with a status yet")
		}
		pod = pods.Items[0]
		return nil
	})
	require.Equal(t, corev1.PodPending, pod.Status.Phase)
	require.Equal(t, "ImagePullBackOff", pod.Status.ContainerStatuses[0].State.Waiting.Reason)
	require.Contains(t, pod.Status.ContainerStatuses[0].State.Waiting.Message, NeverPulls)
	require.NotNil(t, pod.Status.ContainerStatuses[1].State.Running, "the other container runs")
	require.NotNil(t, pod.Status.InitContainerStatuses[0].State.Terminated)

	// By the time that others became ready, this one would have, too.
	deploy(t, client, "fine", "example.com/web:v1", 1)
	eventually(t, func(ctx context.Context) error { return available(ctx, client, "fine") })
	later, err := client.CoreV1().Pods("default").Get(t.Context(), pod.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, pod.Status, later.Status, "the pod stays as it is, and is not written again and again")

	// It goes away like any other.
	require.NoError(t, client.AppsV1().Deployments("default").Delete(t.Context(), "stuck", metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Pods("default").Get(ctx, pod.Name, metav1.GetOptions{})
		return gone(err)
	})
}

func testVolume(t *testing.T, stack *Stack) {
	client := admin(t, stack, "alpha")
	claim, err := client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func(ctx context.Context) error {
		claim, err = client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "data", metav1.GetOptions{})
		if err == nil && claim.Status.Phase != corev1.ClaimBound {
			err = fmt.Errorf("the claim is %s", claim.Status.Phase)
		}
		return err
	})
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, resource.MustParse("1Gi"), volume.Spec.Capacity[corev1.ResourceStorage])

	require.NoError(t, client.CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), "data", metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return gone(err)
	})
}

func testNamespace(t *testing.T, stack *Stack) {
	client := admin(t, stack, "beta")
	_, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "brief"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "brief", metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, "brief", metav1.GetOptions{})
		return gone(err)
	})
}

// gone returns nil if a read failed because there is no such object.
func gone(err error) error {
	switch {
	case err == nil:
		return errors.New("it is still there")
	case apierrors.IsNotFound(err):
		return nil
	default:
		return err
	}
}

func testPause(t *testing.T, stack *Stack) {
	client := admin(t, stack, "beta")
	require.NoError(t, stack.Pause("beta"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = admin(t, stack, "alpha").CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "the other cluster goes on")

	require.NoError(t, stack.Resume("beta"))
	_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}
