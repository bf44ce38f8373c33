package journal

// keepBuffer is the size of the largest buffer that is kept for the next batch.
const keepBuffer = 16 << 20

var zeros [blockSize]byte

// batch is what is written at once: frames as they will be in the files, but for what
// is known only then, and the commits that wait for them.
type batch struct {
	buf  []byte
	cuts []cut
	// frame is where the frame begins that is being filled, -1 if there is none.
	frame int
	// last is the seq of the last operation in it, or before it.
	last uint64
	done []func(error)
}

// cut is a part of a batch that goes into one segment. Up to the next cut zeros follow.
type cut struct {
	seg        *segment
	offset     int64
	start, end int
}

func newBatch() *batch { return &batch{frame: -1} }

// staged reports whether there is anything to write.
func (b *batch) staged() bool { return len(b.cuts) > 0 }

func (b *batch) current() *cut { return &b.cuts[len(b.cuts)-1] }

// begin begins a cut.
func (b *batch) begin(seg *segment, offset int64) {
	b.cuts = append(b.cuts, cut{seg: seg, offset: offset, start: len(b.buf)})
}

// openFrame begins a frame.
func (b *batch) openFrame(id, seq uint64, flags uint32) {
	b.frame = len(b.buf)
	b.buf = append(b.buf, zeros[:headerSize]...)
	putHeader(b.buf[b.frame:], id, seq, flags)
}

// payload is the length of what the open frame has.
func (b *batch) payload() int { return len(b.buf) - b.frame - headerSize }

func (b *batch) closeFrame() {
	if b.frame >= 0 {
		putLength(b.buf[b.frame:], b.payload())
		b.frame = -1
	}
}

// finish ends the current cut. The rest of its last block is overwritten with zeros: a
// whole block is written without reading the old one.
func (b *batch) finish() {
	b.closeFrame()
	c := b.current()
	c.end = len(b.buf)
	at := c.offset + int64(c.end-c.start)
	pad := min(-at&(blockSize-1), c.seg.size-at)
	b.buf = append(b.buf, zeros[:max(pad, 0)]...)
}

// complete adds to all frames what was not known before.
func (b *batch) complete(synced uint64) {
	for _, c := range b.cuts {
		for at := c.start; at < c.end; {
			at += putRest(b.buf[at:], synced)
		}
	}
}

// write writes the cuts to their segments.
func (b *batch) write() error {
	for i, c := range b.cuts {
		end := len(b.buf)
		if i+1 < len(b.cuts) {
			end = b.cuts[i+1].start
		}
		if _, err := c.seg.file.WriteAt(b.buf[c.start:end], c.offset); err != nil {
			return err
		}
	}
	return nil
}

// reset empties the batch and keeps its memory.
func (b *batch) reset() {
	clear(b.cuts)
	clear(b.done)
	b.cuts, b.done, b.buf = b.cuts[:0], b.done[:0], b.buf[:0]
	if cap(b.buf) > keepBuffer {
		b.buf = nil
	}
}
