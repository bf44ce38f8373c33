package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Method is what a call asks for.
type Method uint8

// The methods. The numbers are part of the peer protocol.
const (
	MethodStatus  Method = 1 // -> NodeStatus as JSON
	MethodLocate  Method = 2 // key -> Holding as JSON
	MethodScan    Method = 3 // ScanRequest -> ScanPage
	MethodStats   Method = 4 // version of the ring -> statistics of all slots
	MethodPropose Method = 5 // ring.Cluster as JSON -> nothing: formation, first phase
	MethodCommit  Method = 6 // ring.Cluster as JSON -> nothing: formation, second phase
	MethodCluster Method = 7 // -> admin.Status as JSON: the cluster as the node sees it

	MethodDigests  Method = 8 // slots -> their digests: between nodes
	MethodVersions Method = 9 // keys of a slot -> their versions: between nodes

	MethodRepair Method = 10 // RepairRequest as JSON -> RepairProgress as JSON: between nodes

	MethodLeaves     Method = 11 // slots -> their leaves: between nodes
	MethodScanLeaves Method = 12 // ScanRequest with leaves -> ScanPage: between nodes

	MethodCopy Method = 13 // CopyRequest -> CopyPage: between nodes, to rebuild a replica

	MethodReform Method = 14 // ReformRequest as JSON -> ReformState as JSON, or nothing: between nodes

	MethodRing Method = 15 // RingRequest -> RingReply, of every node that knows a ring, whether it votes or not

	MethodChange Method = 16 // change.Entry as JSON -> what became of it, once the node has proposed it: between nodes

	MethodShow  Method = 17 // ShowRequest -> ShowPage: between members of a slot that changes, as the next two
	MethodFetch Method = 18 // KeysRequest -> CopyPage
	MethodAgain Method = 19 // KeysRequest -> AgainReply

	MethodGroup Method = 20 // -> GroupState as JSON: between nodes

	MethodFindKey Method = 21 // FindKey as JSON -> FoundKey as JSON: between nodes

	MethodPubSub Method = 22 // PubSubQuestion -> PubSubAnswer: who subscribes to what

	MethodUsers Method = 23 // change.Users as JSON -> DecisionReply as JSON, once the node has proposed it: of proxies

	MethodParameters Method = 24 // change.Parameters as JSON -> DecisionReply as JSON: the same of parameters

	MethodList Method = 25 // ScanRequest of a database that is placed together -> ListPage: of proxies

	MethodDurable Method = 26 // slots -> whether the node keeps anything, and their digests once all that it holds of them is durable: of proxies

	MethodScripts Method = 27 // ScriptsRequest as JSON -> []RunningScript as JSON: of proxies
)

// ErrCall is wrapped by errors that the called node returned.
var ErrCall = errors.New("the node refused")

// ErrSilent is returned by CallObjects when neither the reply nor a piece of an object has come for too long.
var ErrSilent = errors.New("no answer came, nor a part of one")

// Caller makes calls over a link. The owner of the link hands it what belongs to
// it: HandleReply for FrameCallReply frames, HandlePiece for each piece of an object, and Down when a connection ends.
type Caller struct {
	link *wire.Link

	pieces atomic.Uint64 // of objects, that have come

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan callResult
}

type callResult struct {
	payload []byte
	objects Objects
	err     error
}

// Objects are objects that came ahead of a message, by the numbers that it refers to them with.
type Objects map[uint64]record.State

// Object returns the one of a number, and its type; none if it did not come whole.
func (o Objects) Object(id uint64) record.State { return o[id] }

// NewCaller returns a caller for a link that need not be up yet.
func NewCaller(link *wire.Link) *Caller {
	return &Caller{link: link, pending: map[uint64]chan callResult{}}
}

// Call sends a request and waits for the reply, which is the caller's. It fails at
// once when the link is down, and when the connection ends meanwhile: the request may or may
// not have been executed then.
func (c *Caller) Call(ctx context.Context, method Method, payload []byte) ([]byte, error) {
	reply, _, err := c.call(ctx, method, payload, 0)
	return reply, err
}

// CallObjects is Call for methods whose reply may refer to objects that came ahead of it. These may take long, but not be silent for that long: a reply that
// was lost on a connection that lives comes never.
func (c *Caller) CallObjects(ctx context.Context, method Method, payload []byte, silence time.Duration) ([]byte, Objects, error) {
	return c.call(ctx, method, payload, silence)
}

func (c *Caller) call(ctx context.Context, method Method, payload []byte, silence time.Duration) ([]byte, Objects, error) {
	done := make(chan callResult, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.pending[id] = done
	c.mu.Unlock()
	defer c.forget(id)

	frame := wire.BeginFrame(nil, FrameCall)
	frame = wire.AppendUvarint(frame, id)
	frame = append(frame, byte(method))
	frame = buffer.Append(frame, payload)
	if err := c.link.SendFrames(wire.EndFrame(frame, 0)); err != nil {
		return nil, nil, err
	}
	var silent <-chan time.Time
	if silence > 0 {
		ticker := time.NewTicker(silence)
		defer ticker.Stop()
		silent = ticker.C
	}
	for pieces := c.pieces.Load(); ; {
		select {
		case result := <-done:
			return result.payload, result.objects, result.err
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-silent:
			before := pieces
			if pieces = c.pieces.Load(); pieces == before {
				return nil, nil, ErrSilent
			}
		}
	}
}

// HandlePiece notes that a piece of an object came, which may be one that a reply refers to.
func (c *Caller) HandlePiece() { c.pieces.Add(1) }

// CallJSON is Call for methods whose reply is JSON, which it decodes into reply.
func (c *Caller) CallJSON(ctx context.Context, method Method, payload []byte, reply any) error {
	text, err := c.Call(ctx, method, payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, reply)
}

func (c *Caller) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// HandleReply hands the body of a FrameCallReply to whoever waits for it, and the objects that it refers to.
func (c *Caller) HandleReply(body []byte, objects Objects) {
	d := wire.NewDecoder(body)
	id, failed := d.Uvarint(), d.Bool()
	if d.Err() != nil {
		return
	}
	c.mu.Lock()
	done := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if done == nil {
		return // nobody waits any more
	}
	payload := buffer.Clone(d.Rest())
	if failed {
		done <- callResult{err: fmt.Errorf("%w: %s", ErrCall, payload)}
		return
	}
	done <- callResult{payload: payload, objects: objects}
}

// Down fails all calls that wait: their connection ended.
func (c *Caller) Down(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, done := range c.pending {
		delete(c.pending, id)
		done <- callResult{err: err}
	}
}

// DecodeCall takes a FrameCall body apart. The payload is a view into it.
func DecodeCall(body []byte) (id uint64, method Method, payload []byte, err error) {
	d := wire.NewDecoder(body)
	id, method = d.Uvarint(), Method(d.Byte())
	return id, method, d.Rest(), d.Err()
}

// AppendObjectsReply appends a whole FrameObjectsReply frame: a reply that refers to objects that went ahead under these numbers.
func AppendObjectsReply(dst []byte, id uint64, payload []byte, numbers []uint64) []byte {
	start := len(dst)
	dst = wire.BeginFrame(dst, FrameObjectsReply)
	dst = wire.AppendUvarint(dst, uint64(len(numbers)))
	for _, n := range numbers {
		dst = wire.AppendUvarint(dst, n)
	}
	dst = wire.AppendBool(wire.AppendUvarint(dst, id), false)
	return wire.EndFrame(buffer.Append(dst, payload), start)
}

// HandleObjectsReply is HandleReply for a FrameObjectsReply. object returns what came ahead under a number, as a wire.Decoder wants it.
func (c *Caller) HandleObjectsReply(body []byte, object func(id uint64) record.State) {
	d := wire.NewDecoder(body)
	objects := Objects{}
	for range d.Count(1) {
		id := d.Uvarint()
		objects[id] = object(id)
	}
	c.HandleReply(d.Rest(), objects)
}

// AppendCallReply appends a whole FrameCallReply frame.
func AppendCallReply(dst []byte, id uint64, payload []byte, err error) []byte {
	start := len(dst)
	dst = wire.BeginFrame(dst, FrameCallReply)
	dst = wire.AppendUvarint(dst, id)
	dst = wire.AppendBool(dst, err != nil)
	if err != nil {
		dst = append(dst, err.Error()...)
	} else {
		dst = buffer.Append(dst, payload)
	}
	return wire.EndFrame(dst, start)
}

// ErrChanged is why a call fails that is about slots of which whoever answers does not know as the caller does who holds them, or knows that others do by now.
// It comes as text: IsChanged tells.
var ErrChanged = errors.New("a slot has changed, or not yet")

// IsChanged reports whether a call failed with ErrChanged.
func IsChanged(err error) bool {
	return err != nil && (errors.Is(err, ErrChanged) || errors.Is(err, ErrCall) && strings.Contains(err.Error(), ErrChanged.Error()))
}
