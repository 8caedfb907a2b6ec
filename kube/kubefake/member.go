package kubefake

import (
	"net/http"
	"strings"
	"time"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster is one member of a fleet.
type cluster struct {
	fleet    *Fleet
	name     string
	server   *apiserver.Server
	settings settings
}

// settings are what the options of a cluster say. The fleet's lock guards them.
type settings struct {
	version string
	latency time.Duration
	denied  []kube.Access
	health  http.Handler
}

func newCluster(f *Fleet, name string) *cluster {
	c := &cluster{fleet: f, name: name}
	c.server = apiserver.New(apiserver.Config{Name: name, Version: "v1.37.2"})
	c.seed()
	return c
}

// seed makes what every cluster has from the start.
func (c *cluster) seed() {
	c.server.Do(func(tx apiserver.Tx) {
		for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
			ns := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
			if _, err := tx.Create(ns, ""); err != nil {
				panic(err)
			}
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

func (c *cluster) close() { c.server.Close() }
