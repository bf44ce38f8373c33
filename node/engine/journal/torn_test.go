package journal

import (
	"bytes"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// torn is a journal that was killed: all of it is durable but some operations at the
// end, which were written since, each in a frame of its own.
type torn struct {
	opt     Options
	name    string
	durable map[uint64]string
	all     map[uint64]string
	// frames are the places of the frames that are not durable, and their end.
	frames []int64
}

// tornLength makes a frame a block, so that what pads one does not hide the next.
const tornLength = blockSize - headerSize - pieceSize

func tornSample(t *testing.T) torn {
	d := newDisk()
	s := torn{opt: Options{
		SegmentSize: 12 * blockSize, Interval: time.Hour, Logger: slog.New(slog.DiscardHandler), FS: d,
	}}
	j, _ := reopen(t, s.opt)
	s.all = map[uint64]string{}
	s.name = j.tail().name()
	for i := range uint64(8) {
		if i == 3 {
			require.NoError(t, j.Sync(t.Context()))
			s.durable = maps.Clone(s.all)
		}
		if i >= 3 {
			s.frames = append(s.frames, j.offset)
		}
		op := strings.Repeat(string(rune('a'+i)), tornLength)
		add(t, j, op)
		s.all[i+1] = op
	}
	s.frames = append(s.frames, j.offset)
	d.mu.Lock()
	s.opt.FS = d.afterKill()
	d.mu.Unlock()
	return s
}

// TestATornTailIsDropped damages what was not durable in many ways. What is before the
// damage is played back.
func TestATornTailIsDropped(t *testing.T) {
	s := tornSample(t)
	played, err := attempt(on(s.opt, func(*disk) {}))
	require.NoError(t, err)
	require.Equal(t, s.all, played)

	first, end := s.frames[0], s.frames[len(s.frames)-1]
	r := rand.New(rand.NewPCG(1, 2))
	damages := map[string]func(b []byte){
		"lost":    func(b []byte) { clear(b) },
		"zero":    func(b []byte) { clear(b[:min(len(b), 100)]) },
		"flip":    func(b []byte) { b[0] ^= 4 },
		"garbage": func(b []byte) { fillRandom(r, b[:min(len(b), 700)]) },
	}
	for at := first; at < end; at += 37 {
		whole := uint64(3 + slices.IndexFunc(s.frames, func(f int64) bool { return f > at }) - 1)
		for name, damage := range damages {
			opt := on(s.opt, func(d *disk) {
				damage(d.names[s.name].data[at:end])
			})
			played, err := attempt(opt)
			require.NoError(t, err, "%s at %d", name, at)
			require.Len(t, played, int(whole), "%s at %d", name, at)
			for seq, op := range played {
				require.Equal(t, s.all[seq], op)
			}
		}
	}
}

func fillRandom(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// TestWhatWasDroppedNeverComesBack tears a frame, appends another of the same length in the next
// life, and looks whether the frames behind the torn one are taken for its successors.
func TestWhatWasDroppedNeverComesBack(t *testing.T) {
	s := tornSample(t)
	opt := on(s.opt, func(d *disk) { d.names[s.name].data[s.frames[0]] ^= 1 })
	j, played := reopen(t, opt)
	require.Equal(t, s.durable, played)
	add(t, j, strings.Repeat("X", tornLength))
	require.NoError(t, j.Sync(t.Context()))
	d := opt.FS.(*disk)
	d.mu.Lock()
	opt.FS = d.afterKill()
	d.mu.Unlock()
	s.durable[4] = strings.Repeat("X", tornLength)
	_, played = reopen(t, opt)
	require.Equal(t, s.durable, played)
}

// crashed returns the options with the disk as a kill would leave it now.
func crashed(opt Options) Options {
	d := opt.FS.(*disk)
	d.mu.Lock()
	defer d.mu.Unlock()
	opt.FS = d.afterKill()
	return opt
}

// TestALostSealLosesNothing damages a seal when the only operation behind it has no
// proof of its own.
func TestALostSealLosesNothing(t *testing.T) {
	opt := Options{SegmentSize: 2 * blockSize, Logger: slog.New(slog.DiscardHandler), FS: newDisk()}
	j, _ := reopen(t, opt)
	add(t, j, "a", "b")
	name, seal := j.tail().name(), j.offset
	opt = crashed(opt)
	j, _ = reopen(t, opt) // a new life begins a new segment
	add(t, j, "c")
	opt = crashed(opt)
	whole := opt.FS.(*disk)
	require.True(t, bytes.Equal(whole.names[name].data[seal:][:8], whole.names[name].data[blockSize:][:8]), "a frame")
	played, err := attempt(on(opt, func(d *disk) { d.names[name].data[seal+9] ^= 1 }))
	require.NoError(t, err)
	require.Equal(t, map[uint64]string{1: "a", 2: "b", 3: "c"}, played)
}

// TestALaterSegmentDoesNotBridgeAGap loses what was not durable at the end of a segment,
// while the next one is there.
func TestALaterSegmentDoesNotBridgeAGap(t *testing.T) {
	opt := Options{
		SegmentSize: 2 * blockSize, Interval: time.Hour, Logger: slog.New(slog.DiscardHandler), FS: newDisk(),
	}
	j, _ := reopen(t, opt)
	var places []int64
	name := j.tail().name()
	for len(j.live) == 1 {
		places = append(places, j.offset)
		add(t, j, strings.Repeat("x", 462)) // eight fill a segment, and none is split
	}
	places = places[:8]
	add(t, j, "in the next segment")
	for i, place := range places {
		played, err := attempt(on(crashed(opt), func(d *disk) { clear(d.names[name].data[place:]) }))
		require.NoError(t, err)
		require.Len(t, played, i)
	}
}
