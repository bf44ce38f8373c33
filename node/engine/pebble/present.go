package pebble

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Missing implements disk.Store. It looks at the tables, and at the list of them.
func (s *store) Missing() string {
	for _, pattern := range []string{"MANIFEST-*", "marker.manifest.*"} {
		if names, err := filepath.Glob(filepath.Join(s.dir, pattern)); err == nil && len(names) == 0 {
			return filepath.Join(s.dir, pattern)
		}
	}
	for _, name := range s.tables() {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && slices.Contains(s.tables(), name) {
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
