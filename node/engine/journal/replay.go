package journal

import (
	"fmt"

	"github.com/quolldb/quoll/node/engine"
)

// player follows the frames of the segments that are needed and plays back what is in
// them.
type player struct {
	checkpoint checkpoint
	segments   []*segment // all that there are from the first needed one on
	replay     func(seq uint64, op []byte) error
	window     window

	// next is the seq of the next operation.
	next uint64
	// partial is set while some pieces of the next operation were there, but not the
	// last. op has them, unless headless: the beginning is in a segment that is gone, and
	// the operation not needed.
	partial, headless bool
	op                []byte
	// at and offset are the place of the next frame.
	at     int
	offset int64
}

// run plays back everything up to the first frame that is not valid.
func (p *player) run() error {
	p.next, p.offset = p.checkpoint.base, blockSize
	p.segments[0].base = p.next
	for {
		h, payload, follows, err := p.frame(p.at, p.offset)
		switch {
		case err != nil:
			return err
		case follows && h.flags == flagSeal:
			if p.at+1 == len(p.segments) {
				return fmt.Errorf("%w: the segment after %s is missing; %s",
					ErrCorrupt, p.segment().name(), engine.Advice)
			}
			p.enter()
		case follows:
			if err := p.play(payload); err != nil {
				return err
			}
			p.offset += int64(headerSize + len(payload))
		default:
			enter, err := p.sealLost()
			if err != nil || !enter {
				return err
			}
			p.enter()
		}
	}
}

func (p *player) segment() *segment { return p.segments[p.at] }

// enter goes on in the next segment.
func (p *player) enter() {
	left := p.segment()
	left.complete, left.last = true, p.next-1
	if p.partial {
		left.last = p.next
	}
	p.at++
	p.offset = blockSize
	p.segment().base = p.next
}

// frame returns the frame at a place and whether it is valid and the one that is due.
func (p *player) frame(at int, offset int64) (h header, payload []byte, follows bool, err error) {
	h, payload, valid, err := p.window.frame(p.segments[at], offset)
	if !valid || h.seq != p.next {
		return header{}, nil, false, err
	}
	headless := at == 0 && offset == blockSize && p.next <= p.checkpoint.seq
	return h, payload, begins(payload) || p.partial || headless, nil
}

// begins reports whether the first piece of a payload begins an operation. That of a
// seal begins nothing and continues nothing either.
func begins(payload []byte) bool {
	return len(payload) < pieceSize || le.Uint32(payload)&pieceBegins != 0
}

// sealLost reports whether just the seal of the segment is not valid: whether the next
// segment begins with what is due now.
func (p *player) sealLost() (bool, error) {
	if p.at+1 == len(p.segments) {
		return false, nil
	}
	_, payload, follows, err := p.frame(p.at+1, blockSize)
	return follows && begins(payload), err
}

// play plays back the pieces of a frame. Since the frame is valid they are as they were
// written, or a program wrote what it must not.
func (p *player) play(payload []byte) error {
	for first := true; len(payload) > 0; first = false {
		if len(payload) < pieceSize {
			return p.malformed()
		}
		head := le.Uint32(payload)
		n := int(head & pieceLength)
		if n > len(payload)-pieceSize {
			return p.malformed()
		}
		piece := payload[pieceSize:][:n]
		payload = payload[pieceSize+n:]

		begins, ends := head&pieceBegins != 0, head&pieceEnds != 0
		if !first && begins == p.partial {
			return p.malformed()
		}
		if begins {
			p.op, p.headless = p.op[:0], false
		} else if !p.partial {
			p.headless = true
		}
		p.partial = !ends
		if begins && ends {
			if err := p.deliver(piece); err != nil {
				return err
			}
			continue
		}
		if len(p.op)+n > MaxOp {
			return p.malformed()
		}
		if !p.headless {
			p.op = append(p.op, piece...)
		}
		if ends {
			if err := p.deliver(p.op); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliver gives a complete operation to the caller of Open, if it is needed.
func (p *player) deliver(op []byte) error {
	seq := p.next
	p.next++
	if seq <= p.checkpoint.seq {
		return nil
	}
	if err := p.replay(seq, op); err != nil {
		return fmt.Errorf("journal: play back operation %d: %w", seq, err)
	}
	return nil
}

func (p *player) malformed() error {
	return fmt.Errorf("%w: %s, offset %d: a frame with pieces that do not fit together; %s",
		ErrCorrupt, p.segment().name(), p.offset, engine.Advice)
}

// judge tells a torn end from damage: it looks for proof that what should come next
// was durable once. It returns how many frames are behind the end.
func (p *player) judge() (dropped int, err error) {
	if p.checkpoint.durable >= p.next {
		return 0, p.damaged(p.checkpoint.durable, checkpointName)
	}
	offset := p.offset
	for _, s := range p.segments[p.at:] {
		n, synced, err := p.window.search(s, offset)
		if err != nil {
			return 0, err
		}
		if synced >= p.next {
			return 0, p.damaged(synced, "a later frame in "+s.name())
		}
		dropped += n
		offset = blockSize
	}
	return dropped, nil
}

func (p *player) damaged(durable uint64, witness string) error {
	return fmt.Errorf("%w: %s, offset %d: operation %d is damaged or missing, but %s proves that all up to %d was durable; %s",
		ErrCorrupt, p.segment().name(), p.offset, p.next, witness, durable, engine.Advice)
}
