package consensus

import (
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
)

// Storage keeps what this node has promised and logged: Memory for a node that is a new one after each restart, Create and Open for one that keeps its
// identity. A Group closes the one that it is given. What it holds is in memory as well, so it is read only once.
//
// What is stored is a message of the library's, as it would send it to a thread that stores: To is whose storage it is, Term, Vote and Commit are the
// hard state if Term is set, a snapshot comes before entries, and From is which group of the formation it is, unless that is the first one.
type Storage interface {
	// load returns everything, in the order in which it was stored.
	load() ([]*pb.Message, error)
	// append makes durable a hard state, entries or both.
	append(m *pb.Message) error
	// replace makes durable all that there is from now on: a snapshot, the hard state, and the entries behind the snapshot.
	replace(m *pb.Message) error
	// appended returns the bytes that were appended since the last replace.
	appended() int64
	close()
}

// The errors of storages.
var (
	// ErrLost says that a storage that was used before is not there any more.
	ErrLost = errors.New("the Raft group's log of this node is gone")
	// ErrDamaged says that a storage cannot be read.
	ErrDamaged = errors.New("the Raft group's log of this node is damaged")
	// ErrStorage is wrapped by errors of a group that could not make something durable. Nobody knows what its storage holds until it is
	// opened again.
	ErrStorage = errors.New("the Raft group cannot write its log")
)

// Memory returns the storage of a node that keeps nothing when it ends, and comes back with another identity.
func Memory() Storage { return new(memory) }

type memory struct{ bytes int64 }

func (*memory) load() ([]*pb.Message, error) { return nil, nil }

func (m *memory) append(message *pb.Message) error {
	for _, e := range message.Entries {
		m.bytes += int64(len(e.Data))
	}
	return nil
}

func (m *memory) replace(*pb.Message) error {
	m.bytes = 0
	return nil
}

func (m *memory) appended() int64 { return m.bytes }
func (*memory) close()            {}

// log is what the library reads: all of the storage, in memory. A snapshot is made when it asks for one, so that it knows everybody who is a member by then.
type log struct {
	*raft.MemoryStorage
	hard *pb.HardState
	// refounded is which group it is of (Config.Refounded).
	refounded uint64
	// snapshot makes one, raft.ErrSnapshotTemporarilyUnavailable if that is not possible now.
	snapshot func() (*pb.Snapshot, error)
}

// Snapshot implements raft.Storage.
func (l *log) Snapshot() (*pb.Snapshot, error) { return l.snapshot() }

// readLog reads a storage.
func readLog(s Storage) (*log, error) {
	l := &log{MemoryStorage: raft.NewMemoryStorage()}
	stored, err := s.load()
	if err != nil {
		return nil, err
	}
	for _, m := range stored {
		if err := l.add(m); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return l, nil
}

// add adds what was made durable.
func (l *log) add(m *pb.Message) error {
	l.refounded = max(l.refounded, m.GetFrom())
	if m.Term != nil {
		l.hard = &pb.HardState{Term: m.Term, Vote: m.Vote, Commit: m.Commit}
		if err := l.SetHardState(l.hard); err != nil {
			return err
		}
	}
	if !raft.IsEmptySnap(m.Snapshot) {
		if err := l.ApplySnapshot(m.Snapshot); err != nil {
			return err
		}
	}
	return l.appendEntries(m.Entries)
}

// appendEntries refuses a gap, at which the library would panic.
func (l *log) appendEntries(entries []*pb.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if last, err := l.LastIndex(); err != nil || entries[0].GetIndex() > last+1 {
		return errors.Join(err, fmt.Errorf("entries from %d, but those before end with %d", entries[0].GetIndex(), last))
	}
	return l.Append(entries)
}

// empty reports whether nothing was ever stored.
func (l *log) empty() bool {
	last, _ := l.LastIndex()
	return raft.IsEmptyHardState(l.hard) && last == 0
}

// stored returns a hard state and entries as a storage takes them.
func stored(id uint64, hard *pb.HardState, entries []*pb.Entry, snapshot *pb.Snapshot) *pb.Message {
	m := &pb.Message{Type: pb.MsgStorageAppend.Enum(), To: &id, Entries: entries, Snapshot: snapshot}
	if !raft.IsEmptyHardState(hard) {
		m.Term, m.Vote, m.Commit = hard.Term, hard.Vote, hard.Commit
	}
	return m
}
