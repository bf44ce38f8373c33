package journal

import "github.com/quolldb/quoll/internal/buffer"

// leastPiece is the length of the smallest piece of an operation that is worth a split.
const leastPiece = 64

// usable is how much of a rest of a segment is certainly there for operations: not what
// is lost where one is split, or at the end.
func (j *Journal) usable(rest int64) int64 {
	const perFrame = headerSize + pieceSize
	frames := rest/int64(j.opt.frameSize/2) + 1
	return max(rest-perFrame*(frames+1)-(perFrame+leastPiece), 0)
}

// countRoom computes Room. The caller has the mutex.
func (j *Journal) countRoom() {
	room := j.usable(j.tail().limit - j.offset)
	for _, s := range j.ahead {
		room += j.usable(s.limit - blockSize)
	}
	j.room.Store(room)
}

// tail returns the segment that is written to.
func (j *Journal) tail() *segment { return j.live[len(j.live)-1] }

// stage copies an operation of n bytes into the batch. There is room.
func (j *Journal) stage(parts [][]byte, n int) {
	b := j.next
	flags := uint32(pieceBegins)
	for at := 0; ; flags = 0 {
		size := min(j.space(n, flags == 0), n)
		if n -= size; n == 0 {
			flags |= pieceEnds
		}
		b.buf = le.AppendUint32(b.buf, uint32(size)|flags)
		j.offset += int64(pieceSize + size)
		for size > 0 {
			piece := parts[0][at:]
			piece = piece[:min(len(piece), size)]
			b.buf = buffer.Append(b.buf, piece)
			size -= len(piece)
			if at += len(piece); at == len(parts[0]) {
				parts, at = parts[1:], 0
			}
		}
		if n == 0 {
			break
		}
	}
	j.countRoom()
}

// space returns how long the next piece can be, at the end of the batch, where it
// opens a frame or a segment if necessary. n is what is left of the operation, middle
// says that some of it was staged already.
func (j *Journal) space(n int, middle bool) int {
	b := j.next
	if !b.staged() {
		b.begin(j.tail(), j.offset)
	}
	least := pieceSize + min(n, leastPiece)
	for {
		rest := int(min(j.tail().limit-j.offset, maxFrame+headerSize))
		switch {
		case b.frame < 0 && rest >= headerSize+least:
			j.openFrame(0)
		case b.frame < 0:
			j.moveOn(middle)
		default:
			if free := min(rest, j.opt.frameSize-b.payload()); free >= least {
				return free - pieceSize
			}
			b.closeFrame()
		}
	}
}

func (j *Journal) openFrame(flags uint32) {
	j.next.openFrame(j.tail().id, j.last.Load()+1, flags)
	j.offset += headerSize
}

// moveOn seals the segment and begins the next one, which is there: Append has looked.
func (j *Journal) moveOn(middle bool) {
	b, left, entered := j.next, j.tail(), j.ahead[0]
	j.openFrame(flagSeal)
	b.finish()
	left.last = j.last.Load()
	entered.base = left.last + 1
	if middle {
		left.last++
	}
	j.live = append(j.live, entered)
	j.ahead = append(j.ahead[:0], j.ahead[1:]...)
	j.offset = blockSize
	b.begin(entered, j.offset)
	signal(j.shortened)
}
