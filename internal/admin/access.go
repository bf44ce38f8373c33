package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Role is what somebody may do. Whoever may do more may do what those below may, too.
type Role uint8

// The roles.
const (
	// Stranger may ask whether the process lives and can serve.
	Stranger Role = iota
	// Reader may look at metrics, the cluster's state and the ring. Keys and values are not among that, but whether there is a key.
	Reader
	// Operator may do all: change the ring, take a backup, have replicas repaired, read profiles.
	Operator
)

// String is the role's name in a file of tokens.
func (r Role) String() string { return [...]string{"nobody", "read", "operate"}[r] }

// Access says who may use the API, and as what. With neither a secret nor tokens all may who are no web page (DeliberateHeader).
type Access struct {
	// Secret is the cluster's. Whoever has it is an Operator.
	Secret string
	// Tokens are those of people and programs, each with its role. nil for none.
	Tokens *Tokens
	// Log gets a line for each call of an Operator that changes something or hands out data. nil for none.
	Log *slog.Logger
}

// open reports whether nothing has to be known to use the API.
func (a Access) open() bool { return a.Secret == "" && a.Tokens == nil }

// caller is who asks.
type caller struct {
	name string // of the token, "" for one who is known by the secret only
	role Role
}

// who returns who has what a request shows. It takes the same time whatever that is; hashing first hides lengths.
func (a Access) who(r *http.Request) caller {
	if a.open() {
		return caller{role: Operator}
	}
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	given, secret := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(a.Secret))
	var c caller
	if a.Tokens != nil {
		c = a.Tokens.find(given)
	}
	if subtle.ConstantTimeCompare(given[:], secret[:]) == 1 && a.Secret != "" {
		c = caller{role: Operator}
	}
	if !bearer {
		return caller{}
	}
	return c
}

type callerKey struct{}

// callerOf returns who sent a request that was let in.
func callerOf(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// allowed serves those who have a role.
func (h *handler) allowed(least Role, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, guarded := remote(r), !h.access.open()
		if guarded && !h.logins.Allowed(from) {
			fail(w, http.StatusTooManyRequests, "too many wrong secrets came from this address; the secret was not looked at. Wait some seconds and try again")
			return
		}
		c := h.access.who(r)
		switch {
		case c.role >= least:
			serve(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
		case c.role > Stranger:
			fail(w, http.StatusForbidden, "the token of "+c.name+" may "+c.role.String()+", and this call is for those who may "+least.String()+": use another token, or the cluster's secret")
		default:
			if r.Header.Get("Authorization") != "" {
				h.logins.Failed(from)
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="quoll"`)
			fail(w, http.StatusUnauthorized, "the cluster's secret, or a token, is required: Authorization: Bearer SECRET")
		}
	}
}

// deliberately serves operators, and where nothing has to be known to use the API those who say that they mean it; and it logs what they did.
func (h *handler) deliberately(serve http.HandlerFunc) http.HandlerFunc {
	return h.allowed(Operator, func(w http.ResponseWriter, r *http.Request) {
		if h.access.open() && r.Header.Get(DeliberateHeader) == "" {
			fail(w, http.StatusForbidden, "without a secret this call needs the header "+DeliberateHeader+": 1, which no web page can send")
			return
		}
		h.audited(serve)(w, r)
	})
}

// remote is who asks, or an address that is none.
func remote(r *http.Request) net.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return net.TCPAddrFromAddrPort(from)
}
