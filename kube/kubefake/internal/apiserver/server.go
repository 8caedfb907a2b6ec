package apiserver

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Config says what a server is.
type Config struct {
	// Name is the cluster's name; identities are derived from it, so that the
	// same calls give the same objects in every run.
	Name string
	// Version is what /version tells: "v1.37.2".
	Version string
	// Authorize, if set, decides whether a call is allowed.
	Authorize func(Attributes) bool
	// Authenticate, if set, tells which service account a bearer token stands
	// for. A request without a token is the administrator's.
	Authenticate func(token string) (Account, bool)
	// Issue, if set, makes a token for a service account, valid for so many seconds.
	Issue func(account Account, seconds int64) string
}

// Account is a service account, by one of its tokens.
type Account struct {
	Namespace, Name, UID string
	// Secret is the Secret that keeps the token, empty for one that was requested.
	Secret string
}

// Attributes are what authorization decides upon.
type Attributes struct {
	User, Verb, Group, Resource, Subresource, Namespace, Name string
}

// Administrator is the user that a request without credentials stands for.
const Administrator = "kubernetes-admin"

// Server is one API server. It is safe for concurrent use.
type Server struct {
	config Config

	mu        sync.Mutex
	closed    bool
	revision  uint64
	identity  uint64 // how many uids and random names were given out
	tables    map[schema.GroupResource]*table
	custom    map[schema.GroupResource]map[string]*kind // by version
	history   []change
	forgotten uint64 // the last revision that history no longer holds
	watchers  map[*watcher]struct{}
	hooks     []func(Change)
}

// New starts a server without objects.
func New(config Config) *Server {
	return &Server{
		config:   config,
		tables:   map[schema.GroupResource]*table{},
		custom:   map[schema.GroupResource]map[string]*kind{},
		watchers: map[*watcher]struct{}{},
	}
}

// SetVersion changes what /version tells.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.Version = version
}

// OnChange has the function called for every change of stored state, in
// order, while the server is locked: it must only take note.
func (s *Server) OnChange(f func(Change)) { s.hooks = append(s.hooks, f) }

// Close ends all watches. The server answers no more calls.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for w := range s.watchers {
		w.end()
	}
}

// random returns bytes that look random, are unique within the server, and
// are the same in every run.
func (s *Server) random() [sha256.Size]byte {
	s.identity++
	return sha256.Sum256(binary.BigEndian.AppendUint64([]byte(s.config.Name+"\x00"), s.identity))
}

func (s *Server) newUID() types.UID {
	b := s.random()
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80 // RFC 4122
	h := hex.EncodeToString(b[:16])
	return types.UID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// newSuffix returns five characters as generated names end in.
func (s *Server) newSuffix() string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := s.random()
	out := make([]byte, 5)
	for i := range out {
		out[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return string(out)
}
