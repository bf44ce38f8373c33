package world

import (
	"slices"

	"github.com/quolldb/quoll/node/consensus"
)

// logFiles are where a node keeps how it votes on changes of the ring: a volume of their own.
type logFiles struct{ files }

var _ consensus.FileSystem = logFiles{}

// Create implements consensus.FileSystem.
func (l logFiles) Create(name string) (consensus.File, error) {
	f, err := l.create(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFile implements consensus.FileSystem.
func (l logFiles) ReadFile(name string) ([]byte, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(f.inode.data), nil
}

// openLog is what node.Options want.
func (i *identity) openLog() (consensus.Storage, error) {
	log, begun := i.currentLog()
	if begun {
		return consensus.Open(logFiles{files{log}}, i.generation)
	}
	s, err := consensus.Create(logFiles{files{log}}, i.generation)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.begun = i.log == log // the machine has not crashed meanwhile
	return s, nil
}

// currentLog returns the volume of the log. Unless the log is begun it is empty: what was there nobody has heard of. Nobody waits for a disk while i.mu is locked.
func (i *identity) currentLog() (log *volume, begun bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.begun {
		i.log = newVolume(&i.faults, i.log.random)
	}
	return i.log, i.begun
}

// crashLog is what becomes of the log when the process ends, or the power. Nothing else that the process keeps of itself counts from now on.
func (i *identity) crashLog(how hostState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	if how == silent {
		i.log = i.log.afterPowerCut()
	} else {
		i.log = i.log.afterKill()
	}
}
