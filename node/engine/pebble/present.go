package pebble

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// Missing implements disk.Store. It looks at the tables, and at the list of them.
func (s *store) Missing() string {
	there, err := s.files.List(s.dir)
	for _, beginning := range []string{"MANIFEST-", "marker.manifest."} {
		begins := func(name string) bool { return strings.HasPrefix(name, beginning) }
		if (err == nil || errors.Is(err, fs.ErrNotExist)) && !slices.ContainsFunc(there, begins) {
			return filepath.Join(s.dir, beginning+"*")
		}
	}
	for _, name := range s.tables() {
		if _, err := s.files.Stat(name); errors.Is(err, fs.ErrNotExist) && slices.Contains(s.tables(), name) {
			return name // else a compaction has replaced it
		}
	}
	return ""
}

// tables returns the names of the tables' files.
func (s *store) tables() (names []string) {
	levels, err := s.db.SSTables()
	if err != nil {
		return nil
	}
	for _, level := range levels {
		for _, t := range level {
			names = append(names, filepath.Join(s.dir, tableName(t)))
		}
	}
	return names
}

func tableName(t pebble.SSTableInfo) string { return t.BackingSSTNum.String() + ".sst" }
