package consensus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
)

// testDisk is a FileSystem in memory that knows what a power cut would leave of it: of what was not synced any sectors, and the first so many
// changes of names.
type testDisk struct {
	names, durable map[string]*testFile
	changes        []func(map[string]*testFile)
	fail           error // of everything that writes
	syncs          int
}

func newTestDisk() *testDisk {
	return &testDisk{names: map[string]*testFile{}, durable: map[string]*testFile{}}
}

const testSector = 64

type testFile struct {
	disk          *testDisk
	data, durable []byte
}

func (d *testDisk) ReadFile(name string) ([]byte, error) {
	f := d.names[name]
	if f == nil {
		return nil, fmt.Errorf("open %s: %w", name, os.ErrNotExist)
	}
	return slices.Clone(f.data), nil
}

func (d *testDisk) change(c func(map[string]*testFile)) {
	c(d.names)
	d.changes = append(d.changes, c)
}

func (d *testDisk) Create(name string) (File, error) {
	if d.fail != nil {
		return nil, d.fail
	}
	f := &testFile{disk: d}
	d.change(func(names map[string]*testFile) { names[name] = f })
	return f, nil
}

func (d *testDisk) Rename(from, to string) error {
	f := d.names[from]
	d.change(func(names map[string]*testFile) {
		delete(names, from)
		names[to] = f
	})
	return d.fail
}

func (d *testDisk) SyncDir() error {
	if d.fail != nil {
		return d.fail
	}
	d.durable, d.changes = maps.Clone(d.names), nil
	return nil
}

func (f *testFile) WriteAt(b []byte, at int64) (int, error) {
	if f.disk.fail != nil {
		return 0, f.disk.fail
	}
	f.data = append(f.data, make([]byte, max(int(at)+len(b)-len(f.data), 0))...)
	return copy(f.data[at:], b), nil
}

func (f *testFile) Sync() error {
	if f.disk.fail != nil {
		return f.disk.fail
	}
	f.disk.syncs++
	f.durable = slices.Clone(f.data)
	return nil
}

func (*testFile) Close() error { return nil }

// afterPowerCut returns what is left when the power has failed.
func (d *testDisk) afterPowerCut(random *rand.Rand) *testDisk {
	names := maps.Clone(d.durable)
	for _, c := range d.changes[:random.IntN(len(d.changes)+1)] {
		c(names)
	}
	left := newTestDisk()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		data := names[name].torn(random)
		left.names[name] = &testFile{disk: left, data: data, durable: slices.Clone(data)}
		left.durable[name] = left.names[name]
	}
	return left
}

// torn is the content with any of the sectors that were not synced, and zeros or garbage in the place of others.
func (f *testFile) torn(random *rand.Rand) []byte {
	b := slices.Clone(f.durable)
	if random.IntN(2) == 0 {
		b = append(b, make([]byte, max(len(f.data)-len(b), 0))...)
	}
	for at := len(f.durable) / testSector * testSector; at < len(b); at += testSector {
		end := min(at+testSector, len(b))
		from := max(at, len(f.durable))
		switch random.IntN(3) {
		case 0:
			copy(b[from:end], f.data[from:])
		case 1:
			for i := from; i < end; i++ {
				b[i] = byte(random.Uint32())
			}
		}
	}
	return b
}
