package protocol

import (
	"github.com/quolldb/quoll/internal/wire"
)

// Messages of publishers to subscribers. Every proxy tells every node to what its clients subscribe (FrameInterest). Whoever publishes asks one node,
// any one (FramePublish), which sends the message to each proxy that is interested (FrameMessages).

// Bounds of what is published and subscribed to. Names are those of channels and patterns.
const (
	// MaxName bounds the bytes of a name: to compare a pattern takes as many steps as the product of two.
	MaxName = 16 << 10
	// MaxMessage bounds the bytes of a message.
	MaxMessage = 32 << 20
	// MaxInterest bounds the bytes of what one proxy subscribes to: each name takes InterestCost beside its own.
	MaxInterest  = 32 << 20
	InterestCost = 64
)

// InterestKind says what a name is that is subscribed to.
type InterestKind uint8

// The kinds of names.
const (
	OfChannel InterestKind = iota
	OfPattern
	OfShardChannel
	// OfEvents: the name is empty, and Clients is a notify.Class, the events of keys that are to be published as long as the proxy is there.
	OfEvents
	InterestKinds = 4
)

// Interest says how many clients of a proxy subscribe to a name. The last one that was told holds.
type Interest struct {
	Kind    InterestKind
	Clients uint64
	Name    []byte
}

// AppendInterestID begins the body of a FrameInterest, and is that of a FrameInterestDone. 0 asks for no answer.
func AppendInterestID(dst []byte, id uint64) []byte { return wire.AppendUvarint(dst, id) }

// AppendInterest appends to the body of a FrameInterest.
func AppendInterest(dst []byte, i Interest) []byte {
	dst = append(dst, byte(i.Kind))
	dst = wire.AppendUvarint(dst, i.Clients)
	return wire.AppendBytes(dst, i.Name)
}

// DecodeInterest decodes the next one. The name is a view into the frame.
func DecodeInterest(d *wire.Decoder) Interest {
	i := Interest{Kind: InterestKind(d.Byte()), Clients: d.Uvarint(), Name: d.Bytes()}
	if i.Kind >= InterestKinds || len(i.Name) > MaxName || i.Clients > maxClients {
		d.Fail("impossible interest")
	}
	return i
}

// maxClients is more clients than a proxy has, so that sums do not overflow.
const maxClients = 1 << 31

// Message is a message on its way.
type Message struct {
	// Shard: the channel is one of SPUBLISH.
	Shard            bool
	Channel, Payload []byte
}

// AppendMessage appends to the body of a FrameMessages.
func AppendMessage(dst []byte, m *Message) []byte {
	dst = wire.AppendBool(dst, m.Shard)
	return wire.AppendBytes(wire.AppendBytes(dst, m.Channel), m.Payload)
}

// DecodeMessage decodes the next message, whose texts are views into the frame.
func DecodeMessage(d *wire.Decoder, m *Message) {
	m.Shard, m.Channel, m.Payload = d.Bool(), d.Bytes(), d.Bytes()
	if len(m.Channel) > MaxName || len(m.Payload) > MaxMessage {
		d.Fail("impossible message")
	}
}

// AppendPublish appends to the body of a FramePublish. The number is for the answer, as that of an operation.
func AppendPublish(dst []byte, id uint64, m *Message) []byte {
	return AppendMessage(wire.AppendUvarint(dst, id), m)
}

// DecodePublish decodes the next message to publish.
func DecodePublish(d *wire.Decoder, m *Message) (id uint64) {
	id = d.Uvarint()
	DecodeMessage(d, m)
	return id
}

// PubSubQuery says what a PubSubQuestion asks for.
type PubSubQuery uint8

// The queries.
const (
	// QueryNames: the channels that somebody subscribes to by name, all or those that match a pattern.
	QueryNames PubSubQuery = iota
	// QueryCounts: how many clients subscribe to each of some channels by name.
	QueryCounts
	// QueryPatterns: how many patterns there are.
	QueryPatterns
	queries = 3
)

// PubSubQuestion is what PUBSUB asks a node (MethodPubSub).
type PubSubQuestion struct {
	Query PubSubQuery
	Shard bool
	Names [][]byte
}

// Append appends the question in bytes.
func (q *PubSubQuestion) Append(dst []byte) []byte {
	return appendNames(wire.AppendBool(append(dst, byte(q.Query)), q.Shard), q.Names)
}

// DecodePubSubQuestion returns what Append has written. The names are views of the payload.
func DecodePubSubQuestion(payload []byte) (q PubSubQuestion, err error) {
	d := wire.NewDecoder(payload)
	q.Query, q.Shard = PubSubQuery(d.Byte()), d.Bool()
	if q.Query >= queries {
		d.Fail("impossible question")
	}
	q.Names = decodeNames(&d)
	return q, d.Done()
}

// PubSubAnswer answers a PubSubQuestion.
type PubSubAnswer struct {
	Names  [][]byte
	Counts []uint64
}

// Append appends the answer in bytes.
func (a *PubSubAnswer) Append(dst []byte) []byte {
	dst = wire.AppendUvarint(appendNames(dst, a.Names), uint64(len(a.Counts)))
	for _, n := range a.Counts {
		dst = wire.AppendUvarint(dst, n)
	}
	return dst
}

// DecodePubSubAnswer returns what Append has written. The names are views of the payload.
func DecodePubSubAnswer(payload []byte) (a PubSubAnswer, err error) {
	d := wire.NewDecoder(payload)
	a.Names = decodeNames(&d)
	for range d.Count(1) {
		a.Counts = append(a.Counts, d.Uvarint())
	}
	return a, d.Done()
}

func appendNames(dst []byte, names [][]byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = wire.AppendBytes(dst, name)
	}
	return dst
}

func decodeNames(d *wire.Decoder) [][]byte {
	names := make([][]byte, d.Count(1))
	for i := range names {
		names[i] = d.Bytes()
	}
	return names
}
