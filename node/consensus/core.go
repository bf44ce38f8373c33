package consensus

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/quolldb/quoll/internal/wire"
)

// core is a Group without its goroutine: whoever calls it says what time it is, so that a test can be a sequence of events. It calls the
// storage, the transport and the machine. After an error it is not to be used any more.
type core struct {
	cfg  Config
	log  *slog.Logger
	now  time.Time
	node *raft.RawNode
	disk *log
	// refounded is which group of the formation this is (Config.Refounded).
	refounded uint64
	// founds: it has just founded the group, alone, and has nobody to wait for.
	founds bool
	// lead is told when the node has become the leader and has applied all that was decided before, and when it no longer leads.
	lead func(leading bool)

	// Who is in the group, by the log; and the same by hearsay, which may be newer on a node that is no member.
	conf      *pb.ConfState
	confIndex uint64
	heard     Voters
	changing  bool // conf is about to be another one

	applied      uint64
	recent       recent
	snapshotAt   uint64 // the index of the stored snapshot
	leading      bool   // and all that was decided before is applied
	ledSince     time.Time
	lastHeard    map[uint64]time.Time
	waiting      map[request]uint64 // who is told what becomes of a proposal, on the leader
	pieceNumber  uint64
	assemblies   assemblies
	snapshotting map[uint64]time.Time // since when a snapshot is on its way to a node, on the leader
	confAsked    time.Time            // when the leader proposed the last change of the group
	resigned     int                  // how many voters it has asked, or could have asked, to lead in its place
	tooLong      time.Time            // when it last said that a snapshot is too long to be sent
	since        time.Time            // without a leader
	complained   time.Time

	proposing
}

// newCore begins with what the storage holds, or with cfg.Initial if that is nothing.
func newCore(cfg Config, now time.Time) (*core, error) {
	c := &core{
		cfg: cfg, log: cfg.logger(), now: now, lead: func(bool) {},
		conf: &pb.ConfState{}, lastHeard: map[uint64]time.Time{}, waiting: map[request]uint64{},
		assemblies: assemblies{}, snapshotting: map[uint64]time.Time{}, since: now,
	}
	c.proposing = proposing{session: cfg.session, open: map[uint64]*proposal{}}
	for c.session == 0 {
		c.session = rand.Uint64()
	}
	c.pieceNumber = c.session // so that pieces of two lives are not taken for those of one message
	var err error
	if c.disk, err = readLog(cfg.Storage); err != nil {
		return nil, err
	}
	switch c.refounded = c.disk.refounded; {
	case cfg.Refounded > c.refounded:
		if err := c.beginAgain(); err != nil {
			return nil, err
		}
	case cfg.Initial != nil && c.disk.empty():
		if err := c.bootstrap(); err != nil {
			return nil, err
		}
	}
	c.disk.snapshot = c.makeSnapshot
	if err := c.restoreStored(); err != nil {
		return nil, err
	}
	c.node, err = raft.NewRawNode(&raft.Config{
		ID: cfg.ID, Storage: c.disk, Applied: c.applied,
		ElectionTick: cfg.ElectionTicks, HeartbeatTick: cfg.HeartbeatTicks,
		MaxSizePerMsg: uint64(cfg.MaxMessage), MaxInflightMsgs: 64, MaxInflightBytes: 4 * uint64(cfg.MaxEntry+cfg.MaxMessage),
		MaxUncommittedEntriesSize: 16 * uint64(cfg.MaxEntry),
		CheckQuorum:               true, PreVote: true, StepDownOnRemoval: true, DisableProposalForwarding: true,
		Logger: libraryLog{c.log},
	})
	if err != nil {
		return nil, err
	}
	return c, c.work()
}

// bootstrap stores what all first voters begin with.
func (c *core) bootstrap() error {
	first := uint64(1)
	voters := slices.Sorted(slices.Values(c.cfg.Initial.Voters))
	s := &pb.Snapshot{
		Data:     c.recent.encodeSnapshot(c.cfg.Initial.Snapshot),
		Metadata: &pb.SnapshotMetadata{ConfState: &pb.ConfState{Voters: voters}, Index: &first, Term: &first},
	}
	m := c.stored(&pb.HardState{Term: &first, Commit: &first}, nil, s)
	if err := c.cfg.Storage.replace(m); err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return c.disk.add(m)
}

// restoreStored gives the machine the stored snapshot.
func (c *core) restoreStored() error {
	s, err := c.disk.MemoryStorage.Snapshot()
	if err != nil || raft.IsEmptySnap(s) {
		return err
	}
	return c.restore(s)
}

// restore replaces the replicated state by a snapshot.
func (c *core) restore(s *pb.Snapshot) error {
	r, state, err := decodeSnapshot(s.GetData())
	if err == nil {
		err = c.cfg.Machine.Restore(state)
	}
	if err != nil {
		return fmt.Errorf("the Raft group's snapshot at index %d cannot be restored: %w", s.GetMetadata().GetIndex(), err)
	}
	c.recent = r
	c.applied = s.GetMetadata().GetIndex()
	c.snapshotAt = c.applied
	c.conf, c.confIndex = s.GetMetadata().GetConfState(), c.applied
	return nil
}

// makeSnapshot returns a snapshot of what is applied.
func (c *core) makeSnapshot() (*pb.Snapshot, error) {
	if c.changing || c.applied == 0 {
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	term, err := c.disk.Term(c.applied)
	if err != nil {
		return nil, err
	}
	return &pb.Snapshot{
		Data: c.recent.encodeSnapshot(c.cfg.Machine.Snapshot()),
		Metadata: &pb.SnapshotMetadata{
			ConfState: proto.Clone(c.conf).(*pb.ConfState), Index: new(c.applied), Term: &term,
		},
	}, nil
}

// tick is called once each cfg.Tick.
func (c *core) tick(now time.Time) error {
	c.now = now
	if c.founds {
		c.founds = false
		if err := c.node.Campaign(); err != nil {
			return err
		}
	}
	if !c.retired() {
		c.node.Tick()
	}
	c.giveUpSnapshots()
	if c.leading {
		c.tend()
	}
	c.drive()
	if err := c.work(); err != nil {
		return err
	}
	c.complain()
	return nil
}

// retired reports whether the group has gone on without this node, which did not hear of it by the log: it asks for no votes then. It may be a member again later.
func (c *core) retired() bool {
	return c.heard.Index > c.confIndex && !slices.Contains(c.heard.IDs, c.cfg.ID) && c.node.BasicStatus().RaftState != raft.StateLeader
}

// receive handles a message of another node.
func (c *core) receive(now time.Time, message []byte) error {
	c.now = now
	d := wire.NewDecoder(message)
	h := readHeader(&d)
	if h.to != c.cfg.ID || h.from == 0 || h.from == h.to || h.group != c.refounded { // meant for a former life, of another group, or malformed
		return nil
	}
	c.hears(h.from)
	if h.kind != kindPiece {
		c.handle(h, &d)
	} else if whole := c.assemblies.add(h.from, &d); whole != nil {
		d := wire.NewDecoder(whole)
		if inner := readHeader(&d); inner.from == h.from && inner.to == h.to && inner.group == h.group {
			c.handle(inner, &d)
		}
	}
	return c.work()
}

// hears notes that a node is there.
func (c *core) hears(from uint64) {
	if len(c.lastHeard) > 16*MaxVoters { // anybody asks who leads
		members := c.voters()
		for id := range c.lastHeard {
			if !slices.Contains(members.IDs, id) && !slices.Contains(c.conf.Learners, id) {
				delete(c.lastHeard, id)
			}
		}
	}
	c.lastHeard[from] = c.now
}

func (c *core) handle(h header, d *wire.Decoder) {
	switch h.kind {
	case kindRaft:
		m := &pb.Message{}
		if err := proto.Unmarshal(d.Rest(), m); err != nil || m.GetFrom() != h.from || m.GetTo() != h.to {
			c.log.Debug("a message of the Raft group is malformed", "from", c.name(h.from), "err", err)
			return
		}
		if err := c.node.Step(m); err != nil {
			c.log.Debug("a message of the Raft group is ignored", "from", c.name(h.from), "type", m.GetType(), "err", err)
		}
	case kindAsk:
		c.send(kindTold, h.from, told{leading: c.leading, commit: c.applied, voters: c.voters()}.append(nil))
	case kindTold:
		if t := readTold(d); d.Err() == nil {
			c.told(h.from, t)
		}
	case kindPropose:
		c.accept(h.from, d.Rest())
	case kindResult:
		if r := readResult(d); d.Err() == nil {
			c.resolve(r)
		}
	}
}

// send sends a message, in pieces if need be.
func (c *core) send(k kind, to uint64, body []byte) {
	h := header{k, c.cfg.ID, to, c.refounded}
	message := append(h.append(make([]byte, 0, headerSize+len(body))), body...)
	c.pieceNumber++
	cut(message, c.pieceNumber, h, c.cfg.MaxMessage, func(m []byte) { c.cfg.Transport.Send(to, m) })
}

// name returns what people call a node.
func (c *core) name(id uint64) string {
	for _, candidate := range c.cfg.Candidates() {
		if candidate.ID == id {
			return candidate.Name
		}
	}
	return fmt.Sprintf("%x", id)
}
