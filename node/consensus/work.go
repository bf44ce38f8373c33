package consensus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// work does what the library wants done, until it wants nothing more: what it wants stored is durable before a message leaves that rests on it, and
// what is applied was stored.
func (c *core) work() error {
	for c.node.HasReady() {
		ready := c.node.Ready()
		if err := c.persist(&ready); err != nil {
			return fmt.Errorf("%w: %w", ErrStorage, err)
		}
		for _, m := range ready.Messages {
			if err := c.sendRaft(m); err != nil {
				return err
			}
		}
		if !raft.IsEmptySnap(ready.Snapshot) {
			if err := c.restore(ready.Snapshot); err != nil {
				return err
			}
		}
		for _, e := range ready.CommittedEntries {
			if err := c.apply(e); err != nil {
				return err
			}
		}
		c.node.Advance(ready)
		c.follow()
	}
	return c.compact()
}

// persist makes durable what is ready. How far the log is decided alone is not worth a write: after a restart the leader says it again.
func (c *core) persist(ready *raft.Ready) error {
	hard := ready.HardState
	if !raft.IsEmptyHardState(hard) {
		c.disk.hard = hard
	}
	var err error
	switch m := c.stored(c.disk.hard, ready.Entries, nil); {
	case !raft.IsEmptySnap(ready.Snapshot):
		m.Snapshot = ready.Snapshot
		err = c.cfg.Storage.replace(m)
	case ready.MustSync:
		err = c.cfg.Storage.append(m)
	}
	if err != nil {
		return err
	}
	if !raft.IsEmptySnap(ready.Snapshot) {
		if err := c.disk.ApplySnapshot(ready.Snapshot); err != nil {
			return err
		}
	}
	return c.disk.appendEntries(ready.Entries)
}

func (c *core) sendRaft(m *pb.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if m.GetType() == pb.MsgSnap {
		c.snapshotting[m.GetTo()] = c.now
		if headerSize+len(body) > maxWhole {
			c.complainOfLength(m.GetTo(), len(body))
			return nil
		}
	}
	c.send(kindRaft, m.GetTo(), body)
	return nil
}

// complainOfLength says now and then that a snapshot is too long to arrive. The node that needs it stays behind, and the others go on.
func (c *core) complainOfLength(to uint64, length int) {
	if !c.tooLong.IsZero() && c.now.Sub(c.tooLong) < complainEvery {
		return
	}
	c.tooLong = c.now
	c.log.Error(errSnapshotTooLong.Error(), "peer", c.name(to), "bytes", length, "permitted", maxWhole)
}

var errSnapshotTooLong = errors.New("the state of the Raft group is too long to be sent: who needs it stays behind and cannot vote; report this as a bug")

// apply executes an entry that a majority holds.
func (c *core) apply(e *pb.Entry) error {
	switch e.GetType() {
	case pb.EntryConfChange, pb.EntryConfChangeV2:
		if err := c.applyConf(e); err != nil {
			return err
		}
		c.applied = e.GetIndex()
	default:
		c.applied = e.GetIndex()
		if len(e.GetData()) == 0 { // a leader's first entry
			break
		}
		envelope, err := decodeEnvelope(e.GetData())
		if err != nil {
			return fmt.Errorf("the Raft group's entry %d cannot be read: %w", e.GetIndex(), err)
		}
		return c.applyProposal(e.GetIndex(), envelope)
	}
	return nil
}

// applyProposal has the machine execute a proposal, unless that was done, and tells who waits.
func (c *core) applyProposal(index uint64, e envelope) error {
	r, err := execute(&c.recent, c.cfg.Machine, index, e)
	if err != nil {
		return err
	}
	if to, ok := c.waiting[e.request]; ok {
		delete(c.waiting, e.request)
		c.answer(to, r)
	}
	c.resolve(r)
	return nil
}

// execute has a machine execute a proposal, unless that was done or it comes too late.
func execute(recent *recent, machine Machine, index uint64, e envelope) (result, error) {
	r, done := recent.find(e.request)
	switch {
	case done:
	case index > e.until:
		r = result{request: e.request, outcome: expired, index: index}
	default:
		r = result{request: e.request, outcome: applied, index: index}
		var err error
		if r.value, err = machine.Apply(index, e.entry); errors.Is(err, ErrUnknownEntry) {
			return r, fmt.Errorf("the Raft group's entry %d: %w", index, err)
		} else if err != nil {
			r.outcome, r.value = refused, []byte(err.Error())
		}
		recent.add(r)
	}
	return r, nil
}

func (c *core) applyConf(e *pb.Entry) error {
	change := &pb.ConfChangeV2{}
	if e.GetType() == pb.EntryConfChange {
		v1 := &pb.ConfChange{}
		if err := proto.Unmarshal(e.GetData(), v1); err != nil {
			return err
		}
		change = v1.AsV2()
	} else if err := proto.Unmarshal(e.GetData(), change); err != nil {
		return err
	}
	c.changing = true // a snapshot made meanwhile would not name who is new
	c.conf = c.node.ApplyConfChange(change)
	c.changing = false
	c.confIndex, c.confAsked = e.GetIndex(), time.Time{}
	c.log.Info("the Raft group changes", "voters", c.names(c.conf.Voters), "leaving", c.names(c.conf.VotersOutgoing),
		"catching_up", c.names(c.conf.Learners))
	return nil
}

// follow notices who leads.
func (c *core) follow() {
	status := c.node.BasicStatus()
	leading := status.RaftState == raft.StateLeader
	if leading { // its first entry is applied: so is all that was decided before
		term, err := c.disk.Term(c.applied)
		leading = err == nil && term == status.GetTerm()
	}
	if leading == c.leading {
		return
	}
	c.leading, c.confAsked = leading, time.Time{}
	clear(c.waiting) // whoever waits asks again
	c.ledSince = c.now
	c.log.Debug("the Raft group's leader is another one", "leading", leading, "term", status.GetTerm())
	c.lead(leading)
}

// compact puts a snapshot in the place of a log that has become long. Some entries stay, for those that are a little behind.
func (c *core) compact() error {
	if c.applied-c.snapshotAt < c.cfg.SnapshotEntries && (c.cfg.Storage.appended() < c.cfg.SnapshotBytes || c.applied == c.snapshotAt) {
		return nil
	}
	s, err := c.makeSnapshot()
	if errors.Is(err, raft.ErrSnapshotTemporarilyUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	if s, err = c.disk.CreateSnapshot(c.applied, s.GetMetadata().GetConfState(), s.GetData()); err != nil {
		return err
	}
	if err := c.rewrite(s); err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	c.snapshotAt = c.applied
	return c.shorten()
}

// shorten forgets what is applied, but for the last few entries and bytes.
func (c *core) shorten() error {
	first, err := c.disk.FirstIndex()
	if err != nil || first > c.applied {
		return err
	}
	entries, err := c.disk.Entries(first, c.applied+1, math.MaxUint64)
	if err != nil {
		return err
	}
	keep, bytes := 0, int64(0)
	for _, e := range slices.Backward(entries) {
		if bytes += int64(len(e.GetData())); bytes > c.cfg.SnapshotBytes/4 || uint64(keep) == c.cfg.SnapshotEntries/4 {
			break
		}
		keep++
	}
	if keep == len(entries) {
		return nil
	}
	return c.disk.Compact(c.applied - uint64(keep))
}

// rewrite stores a snapshot and what is behind it, and nothing else.
func (c *core) rewrite(s *pb.Snapshot) error {
	var behind []*pb.Entry
	last, err := c.disk.LastIndex()
	if at := s.GetMetadata().GetIndex() + 1; err == nil && at <= last {
		behind, err = c.disk.Entries(at, last+1, ^uint64(0))
	}
	if err != nil {
		return err
	}
	return c.cfg.Storage.replace(c.stored(c.disk.hard, behind, s))
}
