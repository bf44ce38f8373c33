package pebble

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkedFrom is the size of a block, in bytes, from which its checksum is looked at before Pebble does.
const checkedFrom = 64 << 10

// trailer is how many bytes follow a block: its kind, and the checksum of both.
const trailer = 5

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkedFile is a table that is read. Pebble looks for the bit that flipped in a damaged block by trying each of many, which takes half a
// minute in a block of a MiB, while reads of its slot wait. So a large block that is damaged is an error here
// already. Pebble reads a block as a whole, and in large pieces nothing else.
type checkedFile struct{ vfs.File }

// ReadAt implements vfs.File.
func (f checkedFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	if err == nil && n >= checkedFrom && !undamaged(p[:n]) {
		return n, fmt.Errorf("%w: checksum mismatch in the %d bytes at %d", pebble.ErrCorruption, n-trailer, offset)
	}
	return n, err
}

// undamaged reports whether a block and its trailer belong together: the checksum is LevelDB's masked CRC.
func undamaged(p []byte) bool {
	end := len(p) - trailer + 1
	c := crc32.Checksum(p[:end], castagnoli)
	return binary.LittleEndian.Uint32(p[end:]) == (c>>15|c<<17)+0xa282ead8
}

// Open implements vfs.FS.
func (f *guarded) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return file, err
	}
	return checkedFile{file}, nil
}
