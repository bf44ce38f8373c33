package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/quolldb/quoll/internal/rdb"
)

// FileSource are the keys of the file of a Redis, its dump.rdb.
type FileSource struct {
	path    string
	db      int
	longest int
	file    *os.File
	info    os.FileInfo
	in      *rdb.File
	read    uint64 // entries
	others  uint64 // of them, those of other databases
	ended   error  // io.EOF, or why nothing more can be read
}

// FromFile returns the keys of one database of a file, whose values may be so many bytes. The caller closes it. Errors wrap rdb.ErrFormat if it is no such file.
func FromFile(path string, db, longest int) (*FileSource, error) {
	f := &FileSource{path: path, db: db, longest: longest}
	var err error
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if f.info, err = f.file.Stat(); err == nil {
		f.in, err = rdb.NewFile(f.file, longest)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Close closes the file.
func (f *FileSource) Close() { _ = f.file.Close() }

// String returns its name.
func (f *FileSource) String() string { return f.path }

func (f *FileSource) identity() string {
	path, err := filepath.Abs(f.path)
	if err != nil {
		path = f.path
	}
	return fmt.Sprintf("%s, database %d, %d bytes, of %s", path, f.db, f.info.Size(), f.info.ModTime().UTC())
}

// seek reads what is before the position once more: that takes much less than to copy it, and sums up its checksum.
func (f *FileSource) seek(ctx context.Context, position string) error {
	if position == "" {
		return nil
	}
	entries, err := strconv.ParseUint(position, 10, 64)
	for ; err == nil && f.read < entries; f.read++ {
		var e rdb.Entry
		if e, err = f.in.Next(); err == nil && e.DB != f.db {
			f.others++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

func (f *FileSource) next(context.Context) (*batch, error) {
	if f.ended != nil {
		return nil, f.ended
	}
	b := &batch{}
	for bytes := 0; len(b.items) < batchKeys && bytes < groupBytes; f.read++ {
		e, err := f.in.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s, behind %d keys: %w", f.path, f.read, err)
			}
			f.ended = err // what was read before is copied
			break
		}
		if e.DB != f.db {
			f.others++
			continue
		}
		b.items = append(b.items, item{key: string(e.Key), payload: string(e.Payload), expireAt: e.ExpireAt, fault: e.Err})
		bytes += len(e.Payload)
	}
	b.after = strconv.FormatUint(f.read, 10)
	return b, nil
}

func (f *FileSource) load(_ context.Context, _ int, b *batch, each func([]item) error) error {
	return each(b.items)
}

func (f *FileSource) again(context.Context, []string, func([]item) error) (bool, error) {
	return false, nil
}

func (f *FileSource) share(uint64) (float64, uint64) {
	return float64(f.in.Offset()) / float64(max(f.info.Size(), 1)), 0
}

func (f *FileSource) functions(context.Context) ([]string, error) { return f.in.Libraries(), nil }

func (f *FileSource) elsewhere(context.Context) uint64 { return f.others }
