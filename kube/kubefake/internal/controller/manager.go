package controller

import (
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
)

// reaction is how long controllers take to notice a change: long enough for a
// client that does not wait to be caught, and no longer.
const reaction = 2 * time.Millisecond

// Config says how the simulated controllers behave.
type Config struct {
	// Ready is how long a pod takes from its node to readiness.
	Ready time.Duration
	// Token is how long a service account's token Secret stays empty.
	Token time.Duration
	// Balancer names the address of a Service's load balancer; nil gives none.
	Balancer func(namespace, name string) string
	// BalancerDelay is how long a load balancer takes to get its address.
	BalancerDelay time.Duration
	// PullFails tells of an image that cannot be pulled.
	PullFails func(image string) bool
	// Mint makes the content of a token Secret.
	Mint func(account apiserver.Account) (token, ca []byte)
	// CA is the certificate authority of the API server, as PEM.
	CA func() []byte
}

// key names what is to be looked at again.
type key struct{ group, kind, namespace, name string }

// Manager runs the controllers of one server. The server's lock guards it.
type Manager struct {
	server *apiserver.Server
	config Config

	queue   []key
	queued  map[key]bool
	garbage bool // an object is gone that others may belong to
	woken   bool // a timer is set to work off the queue
	working bool
	closed  bool
	timers  map[*time.Timer]struct{}
	pending map[key]*time.Timer // what is waiting for its time, at most once
}

// Start has the controllers look after a server.
func Start(server *apiserver.Server, config Config) *Manager {
	m := &Manager{
		server: server, config: config,
		queued: map[key]bool{}, timers: map[*time.Timer]struct{}{}, pending: map[key]*time.Timer{},
	}
	server.OnChange(m.notice)
	return m
}

// Configure changes how the controllers behave from now on.
func (m *Manager) Configure(change func(*Config)) {
	m.server.Do(func(apiserver.Tx) { change(&m.config) })
}

// Close stops all that is still to come.
func (m *Manager) Close() {
	m.server.Do(func(apiserver.Tx) {
		m.closed = true
		for t := range m.timers {
			t.Stop()
		}
		for _, t := range m.pending {
			t.Stop()
		}
	})
}

// notice queues what a change is of interest to.
func (m *Manager) notice(c apiserver.Change) {
	obj := c.New
	if obj == nil {
		obj = c.Old
		m.garbage = true
	}
	m.enqueue(key{c.Group, c.Kind, obj.GetNamespace(), obj.GetName()})
	for _, owner := range obj.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			m.enqueue(key{groupOf(owner.APIVersion), owner.Kind, obj.GetNamespace(), owner.Name})
		}
	}
	if obj.GetDeletionTimestamp() != nil && slices.ContainsFunc(obj.GetFinalizers(), isPropagation) {
		m.garbage = true
	}
	if c.New == nil && strings.Contains(c.Group, ".") {
		m.enqueue(key{"apiextensions.k8s.io", "CustomResourceDefinition", "", c.Resource + "." + c.Group})
	}
	if c.New == nil && obj.GetNamespace() != "" {
		m.enqueue(key{"", "Namespace", "", obj.GetNamespace()})
	}
	m.wake()
}

func (m *Manager) enqueue(k key) {
	if reconciler(k.group, k.kind) != nil && !m.queued[k] {
		m.queued[k] = true
		m.queue = append(m.queue, k)
	}
}

// wake has the queue worked off soon.
func (m *Manager) wake() {
	if m.woken || m.working || m.closed || len(m.queue) == 0 && !m.garbage {
		return
	}
	m.woken = true
	m.after(reaction, func(tx apiserver.Tx) {
		m.woken = false
		m.work(tx)
	})
}

// after does something later, while the server is locked.
func (m *Manager) after(d time.Duration, f func(apiserver.Tx)) *time.Timer {
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		m.server.Do(func(tx apiserver.Tx) {
			delete(m.timers, t)
			if !m.closed {
				f(tx)
			}
		})
	})
	m.timers[t] = struct{}{}
	return t
}

// later looks at something again after a while; a request for it that is
// still waiting stands.
func (m *Manager) later(k key, d time.Duration) {
	if m.pending[k] != nil {
		return
	}
	m.pending[k] = time.AfterFunc(d, func() {
		m.server.Do(func(tx apiserver.Tx) {
			delete(m.pending, k)
			if !m.closed {
				m.enqueue(k)
				m.work(tx)
			}
		})
	})
}

// turn is how much is looked at before clients get their turn again.
const turn = 1000

// work looks at everything queued, and at what that brings about.
func (m *Manager) work(tx apiserver.Tx) {
	m.working = true
	defer func() {
		m.working = false
		m.wake()
	}()
	for range turn {
		if len(m.queue) == 0 && !m.garbage {
			m.queue = nil
			return
		}
		if len(m.queue) == 0 {
			m.garbage = false
			m.collect(tx)
			continue
		}
		k := m.queue[0]
		m.queue = m.queue[1:]
		delete(m.queued, k)
		reconciler(k.group, k.kind)(m, tx, k)
	}
}
