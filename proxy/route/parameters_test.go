package route

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// answerAll has all nodes answer calls of a method.
func (f *fakeRing) answerAll(method protocol.Method, answer func(payload []byte) (any, error)) {
	for _, n := range f.nodes {
		n.mu.Lock()
		n.answers = func(called protocol.Method, payload []byte) ([]byte, error) {
			if called != method {
				return nil, errNotAnswered
			}
			reply, err := answer(payload)
			if err != nil {
				return nil, err
			}
			return json.Marshal(reply)
		}
		n.mu.Unlock()
	}
}

// TestParametersAreSetForTheCluster: by what the proxy has seen, again if there was another change meanwhile, and it is over when each node knows the version.
func TestParametersAreSetForTheCluster(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	spread := func(doc change.Document) {
		for _, n := range f.nodes {
			n.vote(doc)
			n.push(newsOf(doc))
		}
	}
	doc := f.document
	asked := make(chan change.Parameters, 10)
	f.answerAll(protocol.MethodParameters, func(payload []byte) (any, error) {
		var p change.Parameters
		require.NoError(t, json.Unmarshal(payload, &p))
		asked <- p
		next, err := change.Apply(doc, change.Entry{Parameters: &p}, 1)
		switch {
		case errors.Is(err, change.ErrParametersStale):
			go spread(doc)
			return protocol.DecisionReply{Stale: true}, nil
		case errors.Is(err, change.ErrNothing):
			return protocol.DecisionReply{Nothing: true, Refused: true}, nil
		}
		require.NoError(t, err)
		doc = next
		go spread(doc)
		return protocol.DecisionReply{Version: doc.Version}, nil
	})
	set := []change.Parameter{{Name: "maxmemory", Value: "5"}}
	require.NoError(t, c.SetParameters(t.Context(), set))
	require.Equal(t, change.Parameters{Set: set}, <-asked)
	for _, l := range c.ring.Load().nodes {
		require.EqualValues(t, 2, l.version.Load(), "it works by it")
	}
	require.NoError(t, c.SetParameters(t.Context(), set), "it is so already")
	require.Equal(t, change.Parameters{Seen: 2, Set: set}, <-asked)

	doc = apply(t, doc, change.Entry{Parameters: &change.Parameters{Seen: 2, Set: []change.Parameter{{Name: "lfu-decay-time", Value: "3"}}}}) // by another proxy
	set = []change.Parameter{{Name: "maxmemory", Value: "7"}}
	require.NoError(t, c.SetParameters(t.Context(), set))
	require.Equal(t, change.Parameters{Seen: 2, Set: set}, <-asked)
	for p := range asked {
		if p.Seen == 3 {
			break
		}
	}
	require.Equal(t, "3", doc.Parameter("lfu-decay-time"))
	require.Equal(t, "7", doc.Parameter("maxmemory"))
}

// TestParametersThatAreNotSet: the reply says why, and what to do.
func TestParametersThatAreNotSet(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var reply protocol.DecisionReply
	var refused error
	f.answerAll(protocol.MethodParameters, func([]byte) (any, error) { return reply, refused })
	for want, of := range map[string]protocol.DecisionReply{
		"ERR the parameters of the cluster were not changed: too many":                                           {Refused: true, Reason: "too many"},
		"ERR the parameters of the cluster were not changed; those that there are can be used on. A majority of": {Reason: "no leader"},
		"UNKNOWN the change of parameters of the cluster was proposed, and nobody can tell what became of it":    {Unknown: true, Reason: "time-out"},
		"ERR the parameters of the cluster were changed by others all the time":                                  {Stale: true},
	} {
		reply = of
		require.ErrorContains(t, c.SetParameters(t.Context(), []change.Parameter{{Name: "a", Value: "1"}}), want)
	}
	refused = errors.New("node: unknown call 24")
	require.ErrorContains(t, c.SetParameters(t.Context(), nil), "ERR the parameters of the cluster were not changed: node "+f.nodes[2].address()+": the node refused")
}
