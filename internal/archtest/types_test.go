package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// knowTypes are what may name a type of values: where types are, and what tests are made of. Everybody else handles values that only their type
// understands, so that a new one is no line in the register, the engines, the replication, the hints, the repair or the backup.
var knowTypes = []string{"internal/record", "node/datatype", "node/register/sim", "node/engine/enginetest", "proxy/proxytest", "e2e"}

var (
	typeConstant = regexp.MustCompile(`(?m)^\t(\w+) +Type = [1-9]\d*$`)
	anyConstant  = regexp.MustCompile(`\brecord\.([A-Z]\w*)\b`)
)

// TestOnlyDataTypesKnowTypes: outside of knowTypes no shipped file names one of record's types.
func TestOnlyDataTypesKnowTypes(t *testing.T) {
	root := filepath.Join("..", "..")
	source, err := os.ReadFile(filepath.Join(root, "internal", "record", "record.go"))
	require.NoError(t, err)
	var names []string
	for _, m := range typeConstant.FindAllStringSubmatch(string(source), -1) {
		names = append(names, m[1])
	}
	require.Contains(t, names, "Hash")
	known := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.':
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range anyConstant.FindAllStringSubmatch(string(source), -1) {
			if !slices.Contains(names, m[1]) {
				continue
			}
			if slices.ContainsFunc(knowTypes, func(dir string) bool { return within(filepath.ToSlash(filepath.Dir(file)), dir) }) {
				known++
				continue
			}
			t.Errorf("%s names the type %s: what it needs of types is a verb of all (node/datatype/verbs.go)", file, m[1])
		}
		return nil
	}))
	require.NotZero(t, known)
}
