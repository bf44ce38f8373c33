package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/quolldb/quoll/ring/change"
)

// What the directory holds.
const (
	lockFile    = "LOCK"
	nodeFile    = "node.json"
	ringFile    = "ring.json"
	sessionFile = "session.json"
	temporary   = ".tmp"
	journalDir  = "journal"
	hintsDir    = "hints"
)

var (
	jsonFiles = []string{nodeFile, ringFile, sessionFile}
	// engines are those that there are; each has a directory of its name beside the journal's.
	engines = []string{"badger", "pebble"}
)

// refuseForeign refuses a directory that is somebody else's, before anything is written to it.
func (d *Dir) refuseForeign() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	foreign := ""
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains(jsonFiles, name) {
			return nil
		}
		if !ours(name) && foreign == "" {
			foreign = name
		}
	}
	if foreign == "" {
		return nil
	}
	return d.refuse(ErrForeign, "it has %q; give --data an empty directory, or one that is not there yet", foreign)
}

// ours reports whether a file may be in a directory whose creation was cut short. The root of a
// file system may have a lost+found.
func ours(name string) bool {
	return name == lockFile || name == "lost+found" || name == journalDir || slices.Contains(engines, name) ||
		slices.ContainsFunc(jsonFiles, func(file string) bool { return name == file+temporary })
}

// readAll reads the files of a former life. found is false if there was none.
func (d *Dir) readAll() (former session, found bool, err error) {
	var saved savedRing
	hasSession, err := d.read(sessionFile, &former)
	if err != nil {
		return former, false, err
	}
	hasRing, err := d.read(ringFile, &saved)
	if err != nil {
		return former, false, err
	}
	var doc change.Document
	if hasRing {
		if doc, err = saved.document(); err != nil {
			return former, false, d.damaged("%s cannot be read: %w", ringFile, err)
		}
	}
	if found, err = d.read(nodeFile, &d.identity); err != nil {
		return former, false, err
	}
	if !found {
		return former, false, d.refuseRemains(former, hasRing)
	}
	switch {
	case !d.identity.valid() || hasSession && !former.valid() || hasRing && doc.Cluster != d.identity.Cluster:
		return former, false, d.damaged("%s, %s and %s do not belong together", nodeFile, ringFile, sessionFile)
	case !hasSession:
		return former, false, d.damaged("%s is missing", sessionFile)
	case !hasRing && former.Ring:
		return former, false, d.damaged("%s is missing", ringFile)
	case hasRing:
		d.ring = &doc
	}
	return former, true, nil
}

// refuseRemains refuses a directory that has data, but does not say whose.
func (d *Dir) refuseRemains(former session, hasRing bool) error {
	remains := hasRing || former.Data
	for _, name := range append([]string{journalDir}, engines...) {
		entries, err := os.ReadDir(filepath.Join(d.path, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		remains = remains || len(entries) > 0
	}
	if remains {
		return d.damaged("%s is missing, though there is data", nodeFile)
	}
	return nil
}

// read reads one file, if it exists.
func (d *Dir) read(name string, value any) (exists bool, err error) {
	text, err := os.ReadFile(filepath.Join(d.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch err := unseal(text, value); {
	case errors.Is(err, ErrFormat):
		return true, fmt.Errorf("data directory %s: %s %w; use that version", d.path, name, err)
	case err != nil:
		return true, d.damaged("%s cannot be read: %w", name, err)
	}
	return true, nil
}

// belongsTo refuses a directory of another cluster or node.
func (d *Dir) belongsTo(opt Options) error {
	switch i := d.identity; {
	case i.Cluster != opt.Cluster:
		return d.refuse(ErrOtherCluster, "it is of cluster %q, not %q; correct --cluster-name, or give another --data", i.Cluster, opt.Cluster)
	case i.Node != opt.Node:
		return d.refuse(ErrOtherNode, "it is of node %q, not %q; correct --name, or give another --data", i.Node, opt.Node)
	case !slices.Contains(engines, i.Engine):
		return d.refuse(ErrFormat, "it is of engine %q, which this version does not know", i.Engine)
	case i.Engine != opt.Engine:
		return d.refuse(ErrOtherEngine, "it is of engine %q, not %q: give --engine %[1]s, or another --data; to change the engine make a new cluster of "+
			"a backup (quoll node backup, quoll node restore --engine %[2]s)", i.Engine, opt.Engine)
	}
	return nil
}
