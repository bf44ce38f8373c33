package protocol

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// RingNews says which ring somebody knows, and which version of it: what hellos, FrameRing and gossip carry. Whoever knows an earlier one asks for what has changed
// since (MethodRing).
type RingNews struct {
	// Formation tells the ring from others (change.Document), 0 is none.
	Formation uint64
	// Version is the document's, Digest that of the whole of it.
	Version, Digest uint64
}

// Supersedes reports whether news of somebody takes the place of older news of the same: that he knows an earlier version of the same ring is none.
func (n RingNews) Supersedes(older RingNews) bool {
	return n.Formation != older.Formation || n.Version >= older.Version
}

// NewsLength is how many bytes AppendRingNews appends.
const NewsLength = 24

// AppendRingNews appends news in bytes.
func AppendRingNews(dst []byte, n RingNews) []byte {
	return wire.AppendUint64(wire.AppendUint64(wire.AppendUint64(dst, n.Formation), n.Version), n.Digest)
}

// DecodeRingNews returns what AppendRingNews has written.
func DecodeRingNews(body []byte) (RingNews, error) {
	d := wire.NewDecoder(body)
	n := RingNews{Formation: d.Uint64(), Version: d.Uint64(), Digest: d.Uint64()}
	return n, d.Done()
}

// RingFrame returns a whole FrameRing.
func RingFrame(n RingNews) []byte {
	return wire.EndFrame(AppendRingNews(wire.BeginFrame(nil, FrameRing), n), 0)
}

const newsFormat = "%016x %d %016x"

// String writes news as text.
func (n RingNews) String() string { return fmt.Sprintf(newsFormat, n.Formation, n.Version, n.Digest) }

func parseRingNews(text string) (n RingNews, err error) {
	if _, err = fmt.Sscanf(text, newsFormat, &n.Formation, &n.Version, &n.Digest); err == nil && (n.Formation == 0 || n.Version == 0 || n.String() != text) {
		err = fmt.Errorf("%q says of no ring", text)
	}
	return n, err
}

// RingRequest asks for what has changed in a ring since a version (MethodRing). Since 0, and of another ring than the answering node's, that is all of it.
type RingRequest struct{ Formation, Since uint64 }

// Append appends the request in bytes.
func (r RingRequest) Append(dst []byte) []byte {
	return wire.AppendUvarint(wire.AppendUvarint(dst, r.Formation), r.Since)
}

// DecodeRingRequest returns what Append has written.
func DecodeRingRequest(payload []byte) (RingRequest, error) {
	d := wire.NewDecoder(payload)
	r := RingRequest{Formation: d.Uvarint(), Since: d.Uvarint()}
	return r, d.Done()
}

// Address is where a member is reached.
type Address struct {
	ID   uint16
	Peer string
}

// RingReply answers a RingRequest.
type RingReply struct {
	// Moved are members that the answering node reaches elsewhere than the document says: their machines got other addresses.
	Moved []Address
	// Delta is for change.Document's Update.
	Delta []byte
}

// Append appends the reply in bytes.
func (r RingReply) Append(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(r.Moved)))
	for _, m := range r.Moved {
		dst = wire.AppendBytes(wire.AppendUint16(dst, m.ID), []byte(m.Peer))
	}
	return append(dst, r.Delta...)
}

// DecodeRingReply returns what Append has written. Delta is a view of the payload.
func DecodeRingReply(payload []byte) (RingReply, error) {
	d := wire.NewDecoder(payload)
	var r RingReply
	for range d.Count(3) {
		r.Moved = append(r.Moved, Address{ID: d.Uint16(), Peer: string(d.Bytes())})
	}
	r.Delta = d.Rest()
	return r, d.Err()
}

// Update returns the document after the reply, of who has d; d itself if it is not earlier. The error is one of change.Document's Update.
func (r RingReply) Update(d change.Document) (change.Document, error) { return d.Update(r.Delta) }

// FetchRing asks a node for what has changed in the ring since a document, or for all of it: if the difference is of no use, and for who has none. It returns the document
// after that, and where members are reached that have moved (RingReply.Moved). ask makes a call; an error of it, or of Update, is returned as it is.
func FetchRing(have change.Document, ask func(Method, []byte) ([]byte, error)) (change.Document, []Address, error) {
	for {
		payload, err := ask(MethodRing, RingRequest{Formation: have.Formation, Since: have.Version}.Append(nil))
		if err != nil {
			return have, nil, err
		}
		reply, err := DecodeRingReply(payload)
		if err != nil {
			return have, nil, err
		}
		next, err := reply.Update(have)
		if err == nil {
			return next, reply.Moved, nil
		}
		if have.Version == 0 || !errors.Is(err, change.ErrGap) && !errors.Is(err, change.ErrDiverged) {
			return have, nil, err
		}
		have = change.Document{}
	}
}

// Relocate returns the document with the members where they are reached, for who dials them; the document that is kept and passed on stays as it is.
func Relocate(d change.Document, moved []Address) change.Document {
	if len(moved) == 0 {
		return d
	}
	d.Members = slices.Clone(d.Members)
	for _, m := range moved {
		if i := slices.IndexFunc(d.Members, func(l change.Life) bool { return l.ID == m.ID }); i >= 0 && m.Peer != "" {
			d.Members[i].Peer = m.Peer
		}
	}
	return d
}

// Life returns the life that a process is which describes itself so, if the ring knows it as one that has its state.
func Life(d change.Document, m *ring.Member) (change.Life, bool) {
	if m == nil {
		return change.Life{}, false
	}
	l, found := d.LifeOf(m.Name, m.Generation)
	return l, found && l.State != change.Lost
}
