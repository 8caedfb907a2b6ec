package kubefake

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	"github.com/planewright/planewright/kube/kubefake/internal/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The defaults of [ClusterOption].
const (
	// DefaultVersion is the version of the API servers.
	DefaultVersion = "v1.37.2"
	// DefaultReadyDelay is how long a pod takes to become ready.
	DefaultReadyDelay = 10 * time.Millisecond
	// DefaultTokenDelay is how long a service account's token takes to appear in its Secret.
	DefaultTokenDelay = 50 * time.Millisecond
)

// cluster is one member of a fleet.
type cluster struct {
	fleet       *Fleet
	name        string
	identity    *identity
	server      *apiserver.Server
	controllers *controller.Manager
	settings    settings
}

// settings are what the options of a cluster say. The fleet's lock guards them.
type settings struct {
	latency     time.Duration
	denied      []kube.Access
	health      http.Handler
	unforwarded bool
}

func newCluster(f *Fleet, name string) *cluster {
	c := &cluster{fleet: f, name: name, identity: newIdentity(name)}
	c.server = apiserver.New(apiserver.Config{
		Name: name, Version: DefaultVersion, Authorize: c.authorize, Authenticate: c.identity.verify, Issue: c.identity.mint,
	})
	c.controllers = controller.Start(c.server, controller.Config{
		Ready: DefaultReadyDelay, Token: DefaultTokenDelay, CA: c.identity.ca,
		Mint: func(a apiserver.Account) (token, ca []byte) { return []byte(c.identity.mint(a, 0)), c.identity.ca() },
	})
	for _, ns := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		c.seed(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, "Namespace")
	}
	return c
}

// seed makes a core object that every cluster has from the start.
func (c *cluster) seed(obj apiserver.Object, kind string) {
	obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	c.server.Do(func(tx apiserver.Tx) {
		if _, err := tx.Create(obj, ""); err != nil {
			panic(fmt.Sprintf("kubefake: cluster %s: %s %s: %v", c.name, kind, obj.GetName(), err))
		}
	})
}

// url is the address of the API server. It is never dialled.
func (c *cluster) url() string {
	host := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(c.name))
	return "https://" + host + ".kubefake.invalid"
}

// authorize refuses what an option denies, whoever asks. Who asks for
// everything of something is refused if a part of it is denied.
func (c *cluster) authorize(a apiserver.Attributes) bool {
	c.fleet.mu.Lock()
	defer c.fleet.mu.Unlock()
	meets := func(denied, asked string) bool { return denied == "*" || asked == "*" || denied == asked }
	everywhere := a.Namespace == "" && (a.Verb == "*" || a.Group == "*" || a.Resource == "*")
	for _, d := range c.settings.denied {
		if meets(d.Verb, a.Verb) && meets(d.Group, a.Group) && meets(d.Resource, a.Resource) &&
			(d.Namespace == "" || d.Namespace == a.Namespace || everywhere) {
			return false
		}
	}
	return true
}

func (c *cluster) close() {
	c.controllers.Close()
	c.server.Close()
}
