package artifact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeTest is a test that can fail without failing this one.
type fakeTest struct {
	testing.TB
	failed   bool
	cleanups []func()
	log      string
}

func (f *fakeTest) Helper()                        {}
func (f *fakeTest) Name() string                   { return "TestFake/with a slash" }
func (f *fakeTest) Failed() bool                   { return f.failed }
func (f *fakeTest) Cleanup(cleanup func())         { f.cleanups = append(f.cleanups, cleanup) }
func (f *fakeTest) Logf(format string, arg ...any) { f.log += fmt.Sprintf(format, arg...) }

func (f *fakeTest) end() {
	for _, cleanup := range f.cleanups {
		cleanup()
	}
}

func TestFolderOfAPassingTestIsRemoved(t *testing.T) {
	t.Setenv(Variable, filepath.Join(t.TempDir(), "is", "made"))
	f := &fakeTest{}
	dir := Dir(f)
	require.DirExists(t, dir)
	require.Equal(t, dir, Dir(f), "one folder for each test")
	require.True(t, strings.HasPrefix(dir, os.Getenv(Variable)))
	f.end()
	require.NoDirExists(t, dir)
	require.Empty(t, f.log)
}

func TestFolderOfAFailingTestIsKeptAndNamed(t *testing.T) {
	t.Setenv(Variable, t.TempDir())
	f := &fakeTest{failed: true}
	dir := Dir(f)
	f.end()
	require.DirExists(t, dir)
	require.Contains(t, f.log, dir)
	again := &fakeTest{}
	require.NotEqual(t, dir, Dir(again), "the next run has its own")
	again.end()
}
