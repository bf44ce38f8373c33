package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Edit is a change of the source: a text that occurs once in a file, whose name begins at
// the module's root, and what stands there instead.
type Edit struct{ File, Old, New string }

// Build builds a quoll of an edited source and returns its path. The source itself stays
// as it is.
func Build(t testing.TB, edits ...Edit) string {
	t.Helper()
	lookAtSources(t)
	root, err := moduleRoot()
	require.NoError(t, err)
	dir, texts := t.TempDir(), map[string]string{}
	for _, e := range edits {
		require.NoError(t, e.apply(root, texts))
	}
	replace := map[string]string{}
	for file, text := range texts {
		edited := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(edited, []byte(text), 0o600))
		replace[filepath.Join(root, filepath.FromSlash(file))] = edited
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, list, 0o600))
	path, err := build("", filepath.Join(dir, "quoll"), "-overlay", overlay)
	require.NoError(t, err)
	return path
}

// apply edits the text of the file, which may have been edited before.
func (e Edit) apply(root string, texts map[string]string) error {
	text, ok := texts[e.File]
	if !ok {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
		if err != nil {
			return err
		}
		text = string(source)
	}
	if n := strings.Count(text, e.Old); n != 1 {
		return fmt.Errorf("cluster: %s has %d times what is edited, not once: it has moved, and this test has to follow it: %s", e.File, n, e.Old)
	}
	texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	return nil
}

// Hurried builds a quoll whose engine on disk does all the time what it otherwise does
// after a while: it writes what has changed to its tables, begins new files, compacts and
// collects them. It has almost no cache.
func Hurried(t testing.TB) string {
	t.Helper()
	return Build(t, HurriedEdits...)
}

// HurriedEdits are what makes Hurried different, for a quoll that has other edits too.
var HurriedEdits = []Edit{
	{"node/engine/disk/options.go", "func (o *Options) setDefaults() error {", `func (o *Options) setDefaults() error {
	o.FlushInterval, o.CollectInterval = 50*time.Millisecond, 20*time.Millisecond
	o.SegmentSize, o.MemTable, o.Cache = mib, mib/4, mib`},
	{"node/engine/badger/open.go", "cmp.Or(opt.ValueFile, 128*mib)", "cmp.Or(opt.ValueFile, mib)"},
}
