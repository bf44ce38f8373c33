package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/quolldb/quoll"

// anImport is one line of an import declaration.
type anImport struct {
	file string // relative to the module, with slashes
	dir  string
	path string // of a package of this module: relative to it
	kind importKind
}

type importKind int

const (
	standard importKind = iota
	own
	library
)

// read returns all imports of the module's files, without those of tests.
func read(t *testing.T) []anImport {
	root := filepath.Join("..", "..")
	require.FileExists(t, filepath.Join(root, "go.mod"))
	var imports []anImport
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 2 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found, err := importsOf(filepath.ToSlash(file), source)
		imports = append(imports, found...)
		return err
	})
	require.NoError(t, err)
	return imports
}

func importsOf(file string, source []byte) ([]anImport, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []anImport
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		i := anImport{file: file, dir: path.Dir(file), path: name}
		first, _, _ := strings.Cut(name, "/")
		switch relative, ok := strings.CutPrefix(name, module+"/"); {
		case ok:
			i.kind, i.path = own, relative
		case strings.Contains(first, "."):
			i.kind = library
		}
		imports = append(imports, i)
	}
	return imports, nil
}

// within reports whether a package is dir or below it.
func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

func withinAny(pkg string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(pkg, dir) })
}

func isPure(pkg string) bool { return withinAny(pkg, pure) && !withinAny(pkg, notPure) }

func reachesOut(i anImport) bool { return i.kind == library || withinAny(i.path, impure) }

func isHarmless(i anImport) bool {
	for _, exception := range harmless {
		if i.dir == exception.pkg && i.path == exception.path {
			return true
		}
	}
	return false
}

func isPermitted(i anImport) bool {
	for _, exception := range permitted {
		if i.dir == exception.pkg && i.path == exception.path {
			return true
		}
	}
	return false
}

func TestImportsPointOneWay(t *testing.T) {
	for _, i := range read(t) {
		for _, rule := range forbidden {
			if i.kind == own && within(i.dir, rule.from) && within(i.path, rule.to) && !isPermitted(i) {
				t.Errorf("%s imports %s, but %s may not import %s: %s", i.file, i.path, rule.from, rule.to, rule.because)
			}
		}
	}
}

func TestPurePackagesStayPure(t *testing.T) {
	for _, i := range read(t) {
		switch {
		case !isPure(i.dir), isHarmless(i):
		case i.kind == own && !isPure(i.path), i.kind != own && reachesOut(i):
			t.Errorf("%s imports %s, but the package is pure: it decides, and does nothing", i.file, i.path)
		}
	}
}

func TestEveryLibraryHasItsHome(t *testing.T) {
	for _, i := range read(t) {
		if i.kind != library {
			continue
		}
		var allowed []string
		atHome := false
		for _, rule := range homes {
			if within(i.path, rule.library) {
				allowed = append(allowed, rule.home+" ("+rule.because+")")
				atHome = atHome || within(i.dir, rule.home)
			}
		}
		if !atHome {
			t.Errorf("%s imports %s, whose home is %s", i.file, i.path, strings.Join(allowed, ", "))
		}
	}
}

// TestRulesSpeakOfTheTree: a rule about a directory that does not exist any more
// protects nothing.
func TestRulesSpeakOfTheTree(t *testing.T) {
	dirs := slices.Concat(pure, notPure)
	for _, rule := range forbidden {
		dirs = append(dirs, rule.from, rule.to)
	}
	for _, rule := range homes {
		dirs = append(dirs, rule.home)
	}
	for _, dir := range dirs {
		require.DirExists(t, filepath.Join("..", "..", filepath.FromSlash(dir)))
	}
}
