package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
)

// sample makes a small journal with everything that there can be: three segments with
// frames, an operation in two of them, a checkpoint in the middle. It is closed if
// that is wanted, and killed before otherwise; in either case what is in it is durable.
func sample(t testing.TB, closed bool) (opt Options, ops map[uint64]string) {
	d := newDisk()
	opt = Options{
		SegmentSize: 2 * blockSize, frameSize: 1000, Logger: slog.New(slog.DiscardHandler),
		FS: d, pause: time.Hour,
	}
	j, _ := reopen(t, opt)
	ops = map[uint64]string{}
	for i := range 22 {
		op := strings.Repeat(string(rune('a'+i)), 50*i)
		require.Eventually(t, func() bool { return j.Room() > int64(len(op)+Overhead) }, time.Minute, time.Millisecond)
		add(t, j, op)
		ops[uint64(i+1)] = op
		if i == 15 {
			require.NoError(t, j.Checkpoint(9))
		}
	}
	maps.DeleteFunc(ops, func(seq uint64, _ string) bool { return seq <= 9 })
	if !closed {
		d.mu.Lock()
		opt.FS = d.afterKill()
		d.mu.Unlock()
	}
	require.NoError(t, j.Close())
	return opt, ops
}

// attempt opens a journal that was tampered with.
func attempt(opt Options) (map[uint64]string, error) {
	played := map[uint64]string{}
	j, err := Open(opt, func(seq uint64, op []byte) error {
		played[seq] = string(op)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return played, j.Close()
}

// on returns the options with a copy of the disk, changed.
func on(opt Options, change func(d *disk)) Options {
	d := opt.FS.(*disk).afterKill()
	change(d)
	opt.FS = d
	return opt
}

func TestTheSampleIsWhatItSays(t *testing.T) {
	opt, ops := sample(t, true)
	used := 0
	for name := range opt.FS.(*disk).names {
		if strings.HasSuffix(name, segmentSuffix) {
			used++
		}
	}
	require.GreaterOrEqual(t, used, 3)
	played, err := attempt(opt)
	require.NoError(t, err)
	require.Equal(t, ops, played)
}

// TestEveryFlippedByteIsNoticedOrHarmless flips each byte of each file of a journal
// that was closed. Never may something else be played back, nor less.
func TestEveryFlippedByteIsNoticedOrHarmless(t *testing.T) {
	opt, ops := sample(t, true)
	noticed, harmless, step := 0, 0, 1
	if testing.Short() {
		step = 7
	}
	files := opt.FS.(*disk)
	for _, name := range slices.Sorted(maps.Keys(files.names)) {
		content := files.names[name].data
		for at := 0; at < len(content); at += step {
			if at > headSize && at%61 != 0 && allZero(content[max(at-headerSize, 0):min(at+headerSize, len(content))]) {
				continue // far from all that is used
			}
			bit := byte(1) << (at % 8)
			played, err := attempt(on(opt, func(d *disk) { d.names[name].data[at] ^= bit }))
			if err == nil {
				harmless++
				require.Equal(t, ops, played, "%s, byte %d", name, at)
				continue
			}
			noticed++
			require.ErrorIs(t, err, ErrCorrupt, "%s, byte %d", name, at)
			require.ErrorContains(t, err, name)
		}
	}
	require.Greater(t, noticed, 10000/step)
	t.Logf("%d flips noticed, %d harmless", noticed, harmless)
}

// TestWhatIsDamagedIsNotTouched compares the disk before and after an Open that failed.
func TestWhatIsDamagedIsNotTouched(t *testing.T) {
	opt, _ := sample(t, false)
	first := opt.FS.(*disk).first()
	opt = on(opt, func(d *disk) { d.names[first].data[blockSize+headerSize+1]++ })
	before := opt.FS.(*disk).afterKill()
	_, err := attempt(opt)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "offset 4096")
	require.ErrorContains(t, err, engine.Advice)
	after := opt.FS.(*disk)
	require.Equal(t, len(before.names), len(after.names))
	for name, n := range before.names {
		require.Equal(t, n.data, after.names[name].data)
	}
}

// first returns the name of the first segment.
func (d *disk) first() string { return d.segments()[0] }

// segments returns the names of the segments.
func (d *disk) segments() []string {
	names := slices.Sorted(maps.Keys(d.names))
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, segmentSuffix) })
}

// TestAShorterFileIsNoticed, wherever it ends: with its end all proof may be gone that something was there. Version 0.1.0 did not write how
// large a file is, and its journals can be read.
func TestAShorterFileIsNoticed(t *testing.T) {
	opt, ops := sample(t, false)
	files := opt.FS.(*disk)
	for _, name := range files.segments() {
		for size := 0; size < len(files.names[name].data); size += blockSize / 2 {
			_, err := attempt(on(opt, func(d *disk) { d.names[name].data = d.names[name].data[:size] }))
			require.ErrorIs(t, err, ErrCorrupt, "%s, %d bytes", name, size)
			require.ErrorContains(t, err, name)
		}
	}
	played, err := attempt(on(opt, func(d *disk) {
		for _, name := range d.segments() {
			clear(d.names[name].data[headSize:][:sizeSize])
		}
	}))
	require.NoError(t, err)
	require.Equal(t, ops, played)
}

// TestEveryDeletedFileIsNoticed deletes each file, after a clean stop and after a kill.
// Harmless are those that nothing was written to.
func TestEveryDeletedFileIsNoticed(t *testing.T) {
	for _, closed := range []bool{true, false} {
		opt, ops := sample(t, closed)
		files := opt.FS.(*disk)
		for name, n := range files.names {
			played, err := attempt(on(opt, func(d *disk) { delete(d.names, name) }))
			used := name == checkpointName || strings.HasSuffix(name, segmentSuffix) && !allZero(n.data[blockSize:])
			if spare := strings.HasSuffix(name, spareSuffix); used && !spare {
				require.ErrorIs(t, err, ErrCorrupt, name)
				continue
			}
			require.NoError(t, err, name)
			require.Equal(t, ops, played)
		}
		_, err := attempt(on(opt, func(d *disk) { clear(d.names) }))
		require.NoError(t, err, "a new journal")
		opt.MustExist = true
		_, err = attempt(on(opt, func(d *disk) { clear(d.names) }))
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

// TestForeignFilesAreNoticed replaces files by those of another journal, and by others
// of the same one.
func TestForeignFilesAreNoticed(t *testing.T) {
	opt, _ := sample(t, false)
	other, _ := sample(t, false)
	foreign := other.FS.(*disk)
	mine := opt.FS.(*disk)
	for name := range foreign.names {
		if strings.HasSuffix(name, spareSuffix) || mine.names[name] == nil {
			continue
		}
		_, err := attempt(on(opt, func(d *disk) { d.put(name, foreign.names[name].data) }))
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
	names := mine.segments()
	_, err := attempt(on(opt, func(d *disk) { d.put(names[0], mine.names[names[1]].data) }))
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = attempt(on(opt, func(d *disk) { d.put("notes.txt", nil) }))
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestANewerVersionIsRefused(t *testing.T) {
	opt, _ := sample(t, true)
	for _, name := range []string{checkpointName, opt.FS.(*disk).first()} {
		_, err := attempt(on(opt, func(d *disk) {
			b := d.names[name].data
			le.PutUint32(b[8:], version+1)
			le.PutUint32(b[12:], checksum(b[:12]))
		}))
		require.ErrorIs(t, err, ErrVersion)
		require.NotErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, fmt.Sprintf("format %d", version+1))
	}
}

// TestDamageBeforeProofIsNoTornTail damages what a later frame says was durable.
func TestDamageBeforeProofIsNoTornTail(t *testing.T) {
	opt, _ := sample(t, false)
	files := opt.FS.(*disk)
	c, err := decodeCheckpoint(files.names[checkpointName].data)
	require.NoError(t, err)
	c.durable = c.seq // the proof is to be in the frames
	noticed, dropped := 0, 0
	for _, name := range files.segments() {
		for at := blockSize; at < len(files.names[name].data); at += 13 {
			played, err := attempt(on(opt, func(d *disk) {
				d.put(checkpointName, c.encode())
				d.names[name].data[at] ^= 0x10
			}))
			if err != nil {
				require.ErrorIs(t, err, ErrCorrupt)
				noticed++
				continue
			}
			// The last frame has nothing behind it that could prove it.
			require.GreaterOrEqual(t, len(played), 22-9-1)
			if len(played) == 22-9-1 {
				dropped++
			}
		}
	}
	require.Greater(t, noticed, 500)
	require.Less(t, dropped, 100)
}

// TestRecycledSegmentsShowNothingOld has a journal go round in the same files, and ends
// it after each operation.
func TestRecycledSegmentsShowNothingOld(t *testing.T) {
	d := newDisk()
	opt := Options{SegmentSize: 2 * blockSize, Logger: slog.New(slog.DiscardHandler), FS: d}
	j, _ := reopen(t, opt)
	for i := range 60 {
		op := fmt.Sprintf("%d %s", i, bytes.Repeat([]byte("x"), 400))
		require.Eventually(t, func() bool { return j.Room() > 1000 }, time.Minute, time.Millisecond)
		add(t, j, op)
		d.mu.Lock()
		left := d.afterKill()
		d.mu.Unlock()
		copied := opt
		copied.FS = left
		played, err := attempt(copied)
		require.NoError(t, err)
		require.Equal(t, map[uint64]string{uint64(i + 1): op}, played)
		require.NoError(t, j.Checkpoint(j.Last()))
	}
}

func TestAReadErrorIsNoEnd(t *testing.T) {
	opt, _ := sample(t, true)
	cause := errors.New("unreadable sector")
	reads := 0
	for n := 1; n < 20; n++ {
		opt := on(opt, func(d *disk) {
			d.fault = func(op, _ string) error {
				if op == "read" {
					if reads++; reads == n {
						return cause
					}
				}
				return nil
			}
		})
		reads = 0
		_, err := attempt(opt)
		if reads < n {
			require.Greater(t, n, 6)
			return
		}
		require.ErrorIs(t, err, ErrCorrupt)
	}
	t.Fatal("too many reads")
}

// TestAnOperationWithoutItsBeginning has a first segment that begins with the rest of an
// operation. Only a checkpoint above it makes that right.
func TestAnOperationWithoutItsBeginning(t *testing.T) {
	for checkpointed := range uint64(2) {
		s := segment{number: 1, id: 5}
		b := append(encodeHead(7, s.number, s.id, 0), make([]byte, headerSize)...)
		b = append(le.AppendUint32(b, 4|pieceEnds), "rest"...)
		b = append(le.AppendUint32(b, 5|pieceBegins|pieceEnds), "whole"...)
		putHeader(b[blockSize:], s.id, 1, 0)
		putLength(b[blockSize:], len(b)-blockSize-headerSize)
		putRest(b[blockSize:], 0)
		d := newDisk()
		d.put(s.name(), b)
		d.put(checkpointName, checkpoint{
			journal: 7, first: 1, base: 1, seq: checkpointed, durable: checkpointed,
		}.encode())
		played, err := attempt(Options{SegmentSize: 2 * blockSize, Logger: slog.New(slog.DiscardHandler), FS: d})
		require.NoError(t, err)
		if checkpointed == 0 {
			require.Empty(t, played)
		} else {
			require.Equal(t, map[uint64]string{2: "whole"}, played)
		}
	}
}
