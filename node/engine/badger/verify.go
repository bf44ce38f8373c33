package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/node/engine"
)

// Badger ends the process when it meets some kinds of damage in Open: with a panic in one of
// its goroutines, or with os.Exit. What it would do that for is looked for before.

// errDamaged is the reason of an ErrCorrupt.
var errDamaged = errors.New("the checksum does not match")

// verify reports what is wrong with the files of a store, if there is one.
func verify(dir string) error {
	if err := verifyAccess(dir); err != nil {
		return err
	}
	names, err := tables(dir)
	if err != nil {
		return err
	}
	work := make(chan string)
	found := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range found {
		workers.Go(func() {
			for name := range work {
				if err := verifyTable(name); err != nil {
					found[i] = errors.Join(found[i], fmt.Errorf("%w: %s: %w", engine.ErrCorrupt, name, err))
				}
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	workers.Wait()
	return errors.Join(found...)
}

// verifyAccess tries to open every file.
func verifyAccess(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, entry.Name()), os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("every file in it has to be readable and writable for this user: %w", err)
		}
		file.Close()
	}
	return nil
}

// tables returns the tables that a store has. A crash can leave others.
func tables(dir string) (names []string, err error) {
	file, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s: %v", engine.ErrCorrupt, file.Name(), p)
		}
	}()
	manifest, _, err := badger.ReplayManifestFile(file, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", engine.ErrCorrupt, file.Name(), err)
	}
	for id := range manifest.Tables {
		names = append(names, table.NewFilename(id, dir))
	}
	return names, nil
}

// verifyTable reads a whole table.
func verifyTable(name string) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errDamaged
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(data) }()
	defer func() {
		if recover() != nil { // it has been cut, or its end is damaged
			err = errDamaged
		}
	}()
	t, err := table.OpenInMemoryTable(data, 0, &table.Options{ChkMode: options.OnTableRead})
	if err != nil {
		return err
	}
	return t.VerifyChecksum()
}

// removeEmpty removes the empty files that Badger leaves when the process is killed while it
// makes or removes one, and which it cannot open. If one of them was not empty once, the
// journal or a look-up tells.
func removeEmpty(dir string) error {
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err == nil && info.Size() == 0 {
				err = os.Remove(name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
