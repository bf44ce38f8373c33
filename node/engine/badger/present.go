package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// Missing implements disk.Store. It looks at the tables, and at the newest files of other kinds: older ones come and go.
func (s *store) Missing() string {
	for _, pattern := range []string{badger.ManifestFilename, "*.vlog", "*.mem"} {
		if names, err := filepath.Glob(filepath.Join(s.dir, pattern)); err == nil && len(names) == 0 {
			return filepath.Join(s.dir, pattern)
		}
	}
	for _, t := range s.db.Tables() {
		name := table.NewFilename(t.ID, s.dir)
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && s.hasTable(t.ID) {
			return name
		}
	}
	return ""
}

// hasTable reports whether Badger uses a table: a compaction may have replaced it.
func (s *store) hasTable(id uint64) bool {
	return slices.ContainsFunc(s.db.Tables(), func(t badger.TableInfo) bool { return t.ID == id })
}
