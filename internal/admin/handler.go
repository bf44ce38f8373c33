package admin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/loginlimit"
)

// Backend answers for a node or a proxy. Its methods are called from many
// goroutines, and return soon after ctx is done.
type Backend interface {
	// Ready returns nil when the process can serve, else an error that says why not.
	Ready(ctx context.Context) error
	// Status asks the nodes about themselves. Nodes that do not answer are in it, as
	// Unreachable.
	Status(ctx context.Context) (Status, error)
	// Locate asks the replicas of a key of the database of a number. Replicas that do not answer are in it, with an
	// Error. The key is the backend's to keep.
	Locate(ctx context.Context, number int, key []byte) (Location, error)
}

// errNotForStrangers is why a process is not ready, for those who may not know.
var errNotForStrangers = errors.New("why, it tells those who give the cluster's secret, or a token")

// answerTimeout bounds a Backend's work for one request.
const answerTimeout = 5 * time.Second

// handler answers the requests of one server.
type handler struct {
	backend Backend
	access  Access
	logins  loginlimit.Limiter // of the secret and the tokens
}

// NewHandler serves the API to those who have access. metrics serves /metrics.
func NewHandler(backend Backend, metrics http.Handler, access Access) http.Handler {
	h := &handler{backend: backend, access: access}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /metrics", h.allowed(Reader, metrics.ServeHTTP))
	mux.HandleFunc("GET /v1/status", h.told(h.status))
	mux.HandleFunc("GET /v1/locate", h.told(h.locate))
	mux.HandleFunc("GET /v1/backup", h.deliberately(h.backup))
	mux.HandleFunc("POST /v1/repair", h.deliberately(h.repair))
	mux.HandleFunc("POST /v1/reform", h.deliberately(h.reform))
	h.rings(mux)
	h.faults(mux)
	mux.HandleFunc("GET /debug/pprof/", h.allowed(Operator, pprof.Index))
	mux.HandleFunc("GET /debug/pprof/profile", h.allowed(Operator, pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/trace", h.allowed(Operator, pprof.Trace))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "there is GET /healthz, /readyz, /metrics, /v1/status, /v1/locate?key=KEY, /v1/backup and /v1/ring, and POST /v1/repair, /v1/reform and /v1/ring/plan, commit and so on")
	})
	return h.noBrowsers(mux)
}

func (h *handler) healthz(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "ok\n")
}

func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	if err := h.backend.Ready(ctx); err != nil {
		if h.access.who(r).role < Reader { // names of nodes are not for strangers
			err = errNotForStrangers
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not ready: "+err.Error()+"\n")
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

func (h *handler) status(ctx context.Context, _ *http.Request) (any, error) {
	return h.backend.Status(ctx)
}

func (h *handler) locate(ctx context.Context, r *http.Request) (any, error) {
	key, err := keyOf(r)
	if err != nil {
		return nil, err
	}
	number, err := databaseOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	location, err := h.backend.Locate(ctx, number, key)
	return location.of(key), err
}

// errRequest marks errors that are the client's fault.
type errRequest string

func (e errRequest) Error() string { return string(e) }

// keyOf returns the key that the request names, with key= or key64=.
func keyOf(r *http.Request) ([]byte, error) {
	query := r.URL.Query()
	switch plain, encoded := query.Has("key"), query.Has("key64"); {
	case plain == encoded:
		return nil, errRequest("give the key as key=KEY, or as key64= in base64url")
	case plain:
		return []byte(query.Get("key")), nil
	}
	key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(query.Get("key64"), "="))
	if err != nil {
		return nil, errRequest("key64 is not base64url")
	}
	return key, nil
}

// told answers readers, in JSON.
func (h *handler) told(answer func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return h.allowed(Reader, inJSON(answer))
}

// done answers operators, in JSON.
func (h *handler) done(answer func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return h.deliberately(inJSON(answer))
}

func inJSON(answer func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		body, err := answer(ctx, r)
		switch {
		case err == nil:
			reply(w, http.StatusOK, body)
		case errors.As(err, new(errRequest)):
			fail(w, http.StatusBadRequest, err.Error())
		case errors.As(err, new(errConflict)):
			fail(w, http.StatusConflict, err.Error())
		case errors.Is(err, context.DeadlineExceeded):
			fail(w, http.StatusGatewayTimeout, err.Error())
		default:
			fail(w, http.StatusServiceUnavailable, err.Error())
		}
	}
}

// failure is the body of an error answer.
type failure struct {
	Error string `json:"error"`
}

func fail(w http.ResponseWriter, code int, text string) { reply(w, code, failure{text}) }

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error here is a client that went away.
	_ = json.NewEncoder(w).Encode(body)
}
