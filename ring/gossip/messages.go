package gossip

import "bytes"

// leaving precedes the sender's name in the only message that members send each
// other beside memberlist's own: memberlist does not tell its users whether a
// member left or died (Serf has a message for the same reason). It goes to
// everybody directly; whoever misses it takes the member for dead.
var leaving = []byte("leaving ")

// NotifyMsg implements memberlist.Delegate.
func (ps *peers) NotifyMsg(message []byte) {
	if name, found := bytes.CutPrefix(message, leaving); found {
		ps.left(string(name))
	}
}

// NodeMeta implements memberlist.Delegate.
func (ps *peers) NodeMeta(int) []byte {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.meta
}

// GetBroadcasts implements memberlist.Delegate: nothing of ours is gossiped.
func (ps *peers) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState implements memberlist.Delegate: nothing of ours is exchanged.
func (ps *peers) LocalState(bool) []byte { return nil }

// MergeRemoteState implements memberlist.Delegate.
func (ps *peers) MergeRemoteState([]byte, bool) {}
