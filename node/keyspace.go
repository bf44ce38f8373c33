package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring/change"
)

// Whether a database has keys. How the keys of one are placed is only changed while every member says that it has none by their present names, once each of them works by a version of the ring in which
// the database is closed (change.Place). There may be some by the other names: those of a backup that was restored. From then on nothing is written to it: Stripe.Execute looks at the placements under the same lock that a search for keys takes.

var errNotHeard = errors.New("it has not heard of this version of the ring yet")

var _ admin.KeyFinder = (*Node)(nil)

// FindKey implements admin.KeyFinder.
func (n *Node) FindKey(ctx context.Context, id database.ID, version uint64) (key []byte, found bool, err error) {
	doc := n.Document()
	if doc == nil {
		_, reason := n.state()
		return nil, false, fmt.Errorf("no ring yet: %s", reason)
	}
	request := protocol.FindKey{Version: version, Database: id}
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, false, err
	}
	for _, l := range doc.Members {
		if l.State == change.Waiting || l.State == change.Lost { // they hold nothing, or never vote again
			continue
		}
		answer, err := n.askForKey(ctx, l, request, payload)
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("node %s: %w", l.Name, err)
		case answer.Found:
			return answer.Key, true, nil
		}
	}
	return nil, false, nil
}

// askForKey asks a member, which may be this node.
func (n *Node) askForKey(ctx context.Context, l change.Life, request protocol.FindKey, payload []byte) (answer protocol.FoundKey, err error) {
	if self := n.self(); l.Name == self.Name && l.Generation == self.Generation {
		return n.findKey(request)
	}
	p := n.peers.Of(l.ID)
	if p == nil {
		return answer, errLeft
	}
	return answer, p.AskJSON(ctx, protocol.MethodFindKey, payload, &answer)
}

func (n *Node) answerFindKey(payload []byte) ([]byte, error) {
	var request protocol.FindKey
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, err
	}
	answer, err := n.findKey(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// findKey looks for a key in what this node holds.
func (n *Node) findKey(request protocol.FindKey) (answer protocol.FoundKey, err error) {
	v := n.replicas.View()
	if v == nil || v.Table.Version() < request.Version {
		return answer, errNotHeard
	}
	at, end := protocol.PlacesOf(request.Database)
	for at < end {
		page, err := n.scan(protocol.ScanRequest{Version: v.Table.Version(), From: at, Limit: maxScan, Of: protocol.OfDatabase(request.Database)})
		if err != nil {
			return answer, err
		}
		for _, e := range page.Entries {
			if e.Type != record.None {
				_, key := database.Split(e.Key)
				return protocol.FoundKey{Found: true, Key: key}, nil
			}
		}
		at = page.Next
	}
	return answer, nil
}
