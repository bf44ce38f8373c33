package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quolldb/quoll/internal/durable"
)

// backupFile is a backup that is being written: a file that gets its name when it is
// complete, or standard output.
type backupFile struct {
	*bufio.Writer
	path string
	file *os.File // nil for standard output, and when it is done
}

// createBackup begins a file, or - for standard output.
func (a *app) createBackup(path string, force bool) (*backupFile, error) {
	if path == "-" {
		if isTerminal(a.stdout) {
			return nil, errors.New("a backup is nothing for a terminal: send standard output to a file or a program, or give --to FILE")
		}
		return &backupFile{Writer: bufio.NewWriter(a.stdout)}, nil
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory: give the name of a file in it", path)
	case err == nil && !force:
		return nil, fmt.Errorf("%s exists: give another name, or --force to replace it", path)
	}
	temporary := path + ".tmp"
	if force {
		if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists: another backup to this file is being made, or was killed; remove it, or give --force", temporary)
	}
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be written: %w", err)
	}
	return &backupFile{Writer: bufio.NewWriterSize(file, 1<<20), path: path, file: file}, nil
}

// keep gives a complete file its name, when it is on disk.
func (f *backupFile) keep() error {
	if err := f.Flush(); err != nil || f.file == nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.file.Name(), f.path); err != nil {
		return err
	}
	f.file = nil
	return durable.Sync(filepath.Dir(f.path))
}

// discard removes a file that was not kept.
func (f *backupFile) discard() {
	if f.file != nil {
		f.file.Close()
		_ = os.Remove(f.file.Name()) // an error was reported already
	}
}

// openBackup opens a file to read, or - for standard input. size is 0 if it is not known.
func openBackup(path string) (file io.ReadCloser, size int64, err error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory, not a backup", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
