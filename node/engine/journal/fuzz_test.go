package journal

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzRecover opens a journal of two segments with any content. It may be refused or
// not; if not, it is a journal. With mend the frames are made valid, so that what is in
// them is looked at, too.
func FuzzRecover(f *testing.F) {
	opt, _ := sample(f, true)
	files := opt.FS.(*disk)
	names := files.segments()
	for i := range len(names) - 1 {
		first, second := files.names[names[i]].data[blockSize:], files.names[names[i+1]].data[blockSize:]
		f.Add(first, second, uint64(0), false)
		f.Add(first, second, uint64(3), true)
		f.Add(first[:len(first)/2], second[:10], uint64(1), true)
	}
	f.Add([]byte{}, []byte{}, uint64(0), false)
	f.Fuzz(func(t *testing.T, first, second []byte, checkpointed uint64, mended bool) {
		const journal, id = 7, 1000
		checkpointed %= 8
		d := newDisk()
		d.put(checkpointName, checkpoint{
			journal: journal, first: 1, base: 1, seq: checkpointed, durable: checkpointed,
		}.encode())
		seq := uint64(1)
		for i, content := range [][]byte{first, second} {
			s := segment{number: uint64(i + 1), id: id + uint64(i)}
			b := append(encodeHead(journal, s.number, s.id, 0), content...)
			if mended {
				seq = mend(b, s.id, seq)
			}
			d.put(s.name(), b)
		}
		opt := Options{SegmentSize: 2 * blockSize, Logger: slog.New(slog.DiscardHandler), FS: d, pause: time.Hour}
		next := checkpointed + 1
		total := 0
		check := func(seq uint64, op []byte) error {
			require.Equal(t, next, seq)
			next++
			total += len(op)
			return nil
		}
		j, err := Open(opt, check)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.LessOrEqual(t, total, len(first)+len(second))
		require.Equal(t, next-1, max(j.Last(), checkpointed))
		add(t, j, "one more")
		require.NoError(t, j.Close())
		last := j.Last()
		next = checkpointed + 1
		j, err = Open(opt, check)
		require.NoError(t, err)
		require.Equal(t, last, j.Last())
		require.NoError(t, j.Close())
	})
}

// mend makes what is in a segment valid frames with operations from seq on, and returns the
// seq of the next one.
func mend(b []byte, id, seq uint64) uint64 {
	for at := blockSize; at+headerSize <= len(b); {
		f := b[at:]
		flags := le.Uint32(f[28:]) & flagSeal
		synced := le.Uint64(f[16:]) % 8
		n := int(le.Uint32(f[24:])) % (len(f) - headerSize + 1)
		if flags == flagSeal {
			n = 0
		}
		putHeader(f, id, seq, flags)
		putLength(f, n)
		for p := f[headerSize:][:n]; len(p) >= pieceSize; {
			head := le.Uint32(p)
			if head&pieceEnds != 0 {
				seq++
			}
			p = p[min(pieceSize+int(head&pieceLength), len(p)):]
		}
		at += putRest(f, synced)
	}
	return seq
}
