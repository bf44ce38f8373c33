package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// fake is a Backend that answers what it is told to.
type fake struct {
	ready  error
	status Status
	err    error
	keys   []string
}

func (f *fake) Ready(context.Context) error            { return f.ready }
func (f *fake) Status(context.Context) (Status, error) { return f.status, f.err }
func (f *fake) Locate(_ context.Context, _ int, key []byte) (Location, error) {
	f.keys = append(f.keys, string(key))
	return Location{Slot: 7, Home: "a", Replicas: []ReplicaHolding{{Node: "a", State: Voting, Home: true}}}, f.err
}

func serve(t *testing.T, f Backend, secret string) *httptest.Server {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("quoll_x 1\n")) })
	server := httptest.NewServer(NewHandler(f, metrics, Access{Secret: secret}))
	t.Cleanup(server.Close)
	return server
}
