package decide

import "github.com/quolldb/quoll/node/consensus"

// LogDir is where a node keeps its log: a *datadir.Dir.
type LogDir interface {
	// Generation is the node's life.
	Generation() uint64
	// Log returns the directory, and whether this life has begun its log there.
	Log() (path string, begun bool, err error)
	// LogBegun notes durably that it has.
	LogBegun() error
}

// OpenLog opens a node's log, and begins it if its life has none yet. A log that was begun and is not there any more is an error (consensus.ErrLost): the node may
// have voted.
func OpenLog(dir LogDir) (consensus.Storage, error) {
	path, begun, err := dir.Log()
	if err != nil {
		return nil, err
	}
	fs := consensus.Directory(path)
	if begun {
		return consensus.Open(fs, dir.Generation())
	}
	s, err := consensus.Create(fs, dir.Generation())
	if err != nil {
		return nil, err
	}
	if err := dir.LogBegun(); err != nil {
		return nil, err // nobody uses what was made
	}
	return s, nil
}
