package admin

import (
	"cmp"
	"net/http"
)

// audited logs what an operator asked for, and whether it was done: who changed the ring, and who took a backup.
func (h *handler) audited(serve http.HandlerFunc) http.HandlerFunc {
	if h.access.Log == nil {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request) {
		noted := &noting{ResponseWriter: w}
		defer func() {
			h.access.Log.Info("audit: an operator's call", "component", "admin", "who", nameOf(r), "from", r.RemoteAddr,
				"call", r.Method+" "+r.URL.Path, "with", r.URL.Query().Encode(), "status", cmp.Or(noted.status, http.StatusOK))
		}()
		serve(noted, r)
	}
}

// nameOf is who asks, for the log and for the ring's history: the token's name, which nobody can choose, before what he calls himself.
func nameOf(r *http.Request) string {
	return cmp.Or(callerOf(r).name, r.URL.Query().Get("by"), "admin")
}

// noting notes the status of an answer.
type noting struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (n *noting) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController, with which long answers are written.
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
