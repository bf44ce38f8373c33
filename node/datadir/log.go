package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// logDir is the directory of the node's log of changes of the ring (package consensus).
const logDir = "consensus"

// Log returns the directory of the log of changes of the ring, and whether the directory's generation has begun one in it: then that must be there. Otherwise the directory is made,
// and empty: what may be in it is what a process left that did not come to LogBegun, or is another generation's.
func (d *Dir) Log() (path string, begun bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path = filepath.Join(d.path, logDir)
	switch {
	case d.closed:
		return path, false, errors.New("datadir: closed")
	case d.session.Log == d.identity.Generation:
		return path, true, nil
	}
	if err := d.step("remove "+logDir, func() error { return os.RemoveAll(path) }); err != nil {
		return path, false, d.explain(err)
	}
	if err := d.makeDir(path); err != nil {
		return path, false, d.explain(err)
	}
	return path, false, nil
}

// LogBegun notes durably that the directory's generation has begun its log. Nobody has heard of anything that is in it before.
func (d *Dir) LogBegun() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("datadir: closed")
	}
	s := d.session
	s.Log = d.identity.Generation
	if err := d.write(sessionFile, s); err != nil {
		return d.explain(err)
	}
	d.session = s
	return nil
}
