package kubefake_test

import (
	"context"
	"testing"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// next reads one event: its type and what it is about.
func next(t *testing.T, w watch.Interface) (watch.EventType, *corev1.Secret) {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		require.True(t, ok, "the watch has ended")
		s, _ := e.Object.(*corev1.Secret)
		return e.Type, s
	case <-time.After(time.Minute):
		require.FailNow(t, "there is no event")
		return "", nil
	}
}

func TestAWatchTellsWhatHappensAfterAList(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		secrets := c.CoreV1().Secrets("default")
		list, err := secrets.List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		_, err = secrets.Create(ctx, secret("a"), metav1.CreateOptions{})
		require.NoError(t, err)

		w, err := secrets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		require.NoError(t, err)
		defer w.Stop()
		kind, s := next(t, w)
		assert.Equal(t, watch.Added, kind)
		assert.Equal(t, "a", s.Name)

		s.StringData = map[string]string{"k": "v"}
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
		require.NoError(t, err)
		kind, s = next(t, w)
		assert.Equal(t, watch.Modified, kind)
		assert.Equal(t, []byte("v"), s.Data["k"])

		require.NoError(t, secrets.Delete(ctx, "a", metav1.DeleteOptions{}))
		kind, last := next(t, w)
		assert.Equal(t, watch.Deleted, kind)
		assert.NotEqual(t, s.ResourceVersion, last.ResourceVersion, "it has the version of the delete")
	})
}

func TestAWatchFollowsItsSelectors(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		secrets := c.CoreV1().Secrets("default")
		w, err := secrets.Watch(ctx, metav1.ListOptions{LabelSelector: "on=yes"})
		require.NoError(t, err)
		defer w.Stop()
		other, err := c.CoreV1().Secrets("kube-system").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"})
		require.NoError(t, err)
		defer other.Stop()

		made, err := secrets.Create(ctx, secret("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		made.Labels = map[string]string{"on": "yes"}
		made, err = secrets.Update(ctx, made, metav1.UpdateOptions{})
		require.NoError(t, err)
		kind, _ := next(t, w)
		assert.Equal(t, watch.Added, kind, "it begins to match")
		made.Labels = nil
		_, err = secrets.Update(ctx, made, metav1.UpdateOptions{})
		require.NoError(t, err)
		kind, _ = next(t, w)
		assert.Equal(t, watch.Deleted, kind, "it matches no more")
		settle()
		assert.Empty(t, other.ResultChan(), "another namespace")
	})
}

func TestAWatchEndsWithItsTimeoutItsContextOrTheFleet(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		start := time.Now()
		seconds := int64(30)
		w, err := c.CoreV1().Secrets("").Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: true, ResourceVersion: "1"})
		require.NoError(t, err)
		var last watch.EventType
		for e := range w.ResultChan() {
			last = e.Type
		}
		assert.Equal(t, watch.Bookmark, last)
		assert.Equal(t, 30*time.Second, time.Since(start))

		ctx, cancel := context.WithCancel(t.Context())
		w, err = c.CoreV1().Secrets("").Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		cancel()
		for range w.ResultChan() {
		}
		w, err = c.CoreV1().Secrets("").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		fleet.Close()
		for range w.ResultChan() {
		}
		_, err = c.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
		assert.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
	})
}

func TestAWatchOfAForgottenPastIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		secrets := c.CoreV1().Secrets("default")
		made, err := secrets.Create(ctx, secret("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		for range 2000 {
			made.Data = map[string][]byte{"n": []byte(made.ResourceVersion)}
			made, err = secrets.Update(ctx, made, metav1.UpdateOptions{})
			require.NoError(t, err)
		}
		w, err := secrets.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
		require.NoError(t, err)
		defer w.Stop()
		e := <-w.ResultChan()
		assert.Equal(t, watch.Error, e.Type)
		assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(e.Object)), "%v", e.Object)
	})
}

func TestInformersStayInSync(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(c, 0)
		lister := factory.Core().V1().Secrets().Lister()
		factory.StartWithContext(ctx)
		for _, ok := range factory.WaitForCacheSync(ctx.Done()) {
			require.True(t, ok)
		}
		_, err := c.CoreV1().Secrets("default").Create(ctx, secret("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		settle()
		_, err = lister.Secrets("default").Get("a")
		require.NoError(t, err)
		cancel()
		factory.Shutdown()
	})
}

func TestListsComeInPages(t *testing.T) {
	bubble(t, func(t *testing.T, _ *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx := t.Context()
		for _, name := range []string{"e", "c", "a", "d", "b"} {
			_, err := c.CoreV1().Secrets("default").Create(ctx, secret(name), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		var names []string
		var remaining []int64
		options := metav1.ListOptions{Limit: 2}
		for {
			page, err := c.CoreV1().Secrets("").List(ctx, options)
			require.NoError(t, err)
			for _, s := range page.Items {
				names = append(names, s.Name)
			}
			if page.RemainingItemCount != nil {
				remaining = append(remaining, *page.RemainingItemCount)
			}
			if options.Continue = page.Continue; page.Continue == "" {
				break
			}
		}
		assert.Equal(t, []string{"a", "b", "c", "d", "e"}, names)
		assert.Equal(t, []int64{3, 1}, remaining)
	})
}
