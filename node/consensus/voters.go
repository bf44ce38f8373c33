package consensus

import (
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
)

// Voters is who decides, as of an index of the log. Nodes that are not members hear of it, so that they know whom to ask.
type Voters struct {
	Formation uint64 // which group: Config.Formation, and another one each time that it is founded again
	Index     uint64
	IDs       []uint64 // while it changes: those before and those after it
}

// voters returns the newest that this node knows.
func (c *core) voters() Voters {
	if c.heard.Index > c.confIndex {
		return c.heard
	}
	return Voters{Formation: c.formation(), Index: c.confIndex, IDs: union(c.conf.Voters, c.conf.VotersOutgoing)}
}

// hear notes newer voters. Those of another formation are another group's, whatever their index.
func (c *core) hear(v Voters) {
	if v.Formation == c.formation() && v.Index > c.heard.Index && len(v.IDs) > 0 {
		c.heard = v
	}
}

// members returns all that the log is sent to.
func (c *core) members() []uint64 {
	return union(c.conf.Voters, c.conf.VotersOutgoing, c.conf.Learners)
}

func union(sets ...[]uint64) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(sets...))))
}

// How the leader changes the group: one step at a time, the next one when the last is applied, or after changePatience.
const (
	changePatience = 10 * time.Second
	// caughtUp is how many entries a learner may be behind when it becomes a voter.
	caughtUp = 64
)

// tend brings the group nearer to what Choose says it should be. A new voter learns first, and takes the place of one that leaves in one change, through both
// majorities, so that a voter that is dead costs nothing while it is replaced. Nothing is changed if those that would vote then are not there to go on.
func (c *core) tend() {
	candidates := slices.Clone(c.cfg.Candidates())
	if len(candidates) == 0 || len(c.conf.VotersOutgoing) > 0 || c.now.Sub(c.confAsked) < changePatience && !c.confAsked.IsZero() {
		return
	}
	for i, candidate := range candidates {
		if slices.Contains(c.conf.Voters, candidate.ID) {
			candidates[i].Alive = candidate.ID == c.cfg.ID || c.silence(candidate.ID) < c.cfg.ReplaceAfter
		}
	}
	wanted := Choose(c.conf.Voters, candidates)
	if len(wanted) == 0 {
		return
	}
	c.step(wanted)
}

// step makes one change, if there is one to make.
func (c *core) step(wanted []uint64) {
	missing := without(wanted, c.conf.Voters)
	unwanted := without(c.conf.Voters, wanted)
	if stray := without(c.conf.Learners, wanted); len(stray) > 0 {
		c.change(remove(stray[0]))
		return
	}
	if slices.Contains(unwanted, c.cfg.ID) && c.resign(wanted) {
		return
	}
	// The leader goes last, when another one leads; those that are silent go first.
	unwanted = slices.DeleteFunc(unwanted, func(id uint64) bool { return id == c.cfg.ID })
	slices.SortStableFunc(unwanted, func(a, b uint64) int { return compareBool(c.active(a), c.active(b)) })
	switch {
	case len(missing) > 0 && !slices.Contains(c.conf.Learners, missing[0]):
		c.change(single(pb.ConfChangeAddLearnerNode, missing[0]))
	case len(missing) > 0 && !c.hasCaughtUp(missing[0]):
	case len(missing) > 0 && len(unwanted) > 0:
		c.change(single(pb.ConfChangeAddNode, missing[0]), remove(unwanted[0]))
	case len(missing) > 0:
		c.change(single(pb.ConfChangeAddNode, missing[0]))
	case len(unwanted) > 0:
		c.change(remove(unwanted[0]))
	}
}

func single(t pb.ConfChangeType, id uint64) *pb.ConfChangeSingle {
	return &pb.ConfChangeSingle{Type: &t, NodeId: &id}
}

func remove(id uint64) *pb.ConfChangeSingle { return single(pb.ConfChangeRemoveNode, id) }

// change proposes a change of the group, two at once through both majorities.
func (c *core) change(changes ...*pb.ConfChangeSingle) {
	voters := c.conf.Voters
	for _, change := range changes {
		switch change.GetType() {
		case pb.ConfChangeAddNode:
			voters = union(voters, []uint64{change.GetNodeId()})
		case pb.ConfChangeRemoveNode:
			voters = without(voters, []uint64{change.GetNodeId()})
		}
	}
	if !c.canGoOn(voters) {
		return
	}
	if err := c.node.ProposeConfChange(&pb.ConfChangeV2{Changes: changes}); err == nil {
		c.confAsked = c.now
	}
}

// canGoOn reports whether a majority of some voters is there.
func (c *core) canGoOn(voters []uint64) bool {
	there := 0
	for _, id := range voters {
		if c.active(id) {
			there++
		}
	}
	return there > len(voters)/2
}

// silence is for how long the leader has not heard a node. Before it led it did not listen.
func (c *core) silence(id uint64) time.Duration {
	heard := c.lastHeard[id]
	if heard.Before(c.ledSince) {
		heard = c.ledSince
	}
	return c.now.Sub(heard)
}

// active reports whether a node was heard lately: within less than it takes to elect this leader, so the one before it is not, if it has died.
func (c *core) active(id uint64) bool {
	return id == c.cfg.ID || c.now.Sub(c.lastHeard[id]) < c.cfg.election()/2
}

// resign hands leading over to a voter that stays, if there is one that can: to another one each time, for one that is asked may never lead.
func (c *core) resign(wanted []uint64) bool {
	for range wanted {
		id := wanted[c.resigned%len(wanted)]
		c.resigned++
		if slices.Contains(c.conf.Voters, id) && c.active(id) && c.hasCaughtUp(id) {
			c.confAsked = c.now
			c.node.TransferLeader(id)
			return true
		}
	}
	return false
}

// hasCaughtUp reports whether a member has what this leader has, but for the last few entries.
func (c *core) hasCaughtUp(id uint64) (has bool) {
	c.node.WithProgress(func(of uint64, _ raft.ProgressType, p tracker.Progress) {
		if of == id {
			has = p.Match > 0 && p.Match+caughtUp >= c.applied && c.active(id)
		}
	})
	return has
}

// giveUpSnapshots tells the library of snapshots that did not arrive in time: it waits for them, and sends nothing else. It may need them before it can
// decide anything.
func (c *core) giveUpSnapshots() {
	if c.node.BasicStatus().RaftState != raft.StateLeader {
		clear(c.snapshotting)
		return
	}
	var lost []uint64
	c.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		since, sent := c.snapshotting[id]
		switch {
		case p.State != tracker.StateSnapshot:
			delete(c.snapshotting, id)
		case !sent:
			c.snapshotting[id] = c.now
		case c.now.Sub(since) > c.cfg.Patience:
			lost = append(lost, id)
		}
	})
	for _, id := range lost {
		delete(c.snapshotting, id)
		c.node.ReportSnapshot(id, raft.SnapshotFailure)
	}
}

func without(ids, others []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return slices.Contains(others, id) })
}
