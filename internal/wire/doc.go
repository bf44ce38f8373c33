// Package wire is the transport of the peer protocol, which proxies and nodes
// speak with nodes over TCP. It moves frames; what is in them is the business of
// the packages above, which get primitives to encode and decode it.
//
// A Link is the dialing side: one long-lived connection to one peer that is
// dialed again whenever it is lost, and that knows whether the peer is alive. A
// Server is the accepting side. Both write everything that is queued with one
// system call and deliver every frame that one system call read.
//
// # Frames
//
//	length uint32 | crc32c(payload) uint32 | payload
//	payload = type byte | stamp uint32 | body
//
// All integers are little-endian, the length is that of the payload. Types below
// FirstFrameType are the transport's own. Nothing here retries, orders across
// connections or acknowledges: a frame arrives once or not at all, and frames of
// one connection arrive in the order in which they were sent.
//
// # Parts
//
// A frame of more than 2 MiB is sent in parts of 256 KiB, each a frame of its own whose body is the next piece of the
// large one. What the transport itself has to say, pings, answers to them, and that it is working, goes before all else
// that waits, and between the parts. So a large frame on its way makes nobody look hung. Users' frames keep their order.
//
// # Streams
//
// What is too much for a frame and for a queue is a stream (Source): its frames are made when the connection has room
// for them. What is queued goes before the next piece of a stream. Behind each piece there is a mark, which the receiver
// answers when it has handled what came before it, and no more than four are unanswered: so what is sent meanwhile is behind a MiB, and
// not behind all that the system's buffers take.
//
// # Handshake
//
// A connection begins with a fixed exchange, each side waiting for the other:
//
//	dialer  greeting   magic, protocol version, whether it has a secret, nonce
//	server  greeting   the same
//	dialer  hello      who it is (JSON) and the proof that it knows the secret
//	server  hello      the same; or refused, with a reason
//	dialer  ready      or refused, with a reason
//
// The shared secret keeps strangers and other clusters out. It neither encrypts
// nor authenticates the frames that follow: on a network where somebody can
// change packets the protocol needs a tunnel.
//
// # Leaving
//
// A server that is about to end says so (leaving). A link that hears it sends what is queued and
// then its last frame (left); from then on it takes no more frames, until the
// server, which answers what it was asked, closes the connection. So nothing is lost on the way that
// could have gone elsewhere.
//
// # Working and stuck
//
// Nobody answers a ping who handles a frame. A server that is behind with frames, which it may still be receiving, or
// whose owner says that answers take long and work goes on, says so (working), on each connection, twenty
// times a second. So an overloaded peer and a hung one look different: the first is Up, and
// Link.Working tells that it is worth waiting for. One whose owner says that nothing goes on
// any more (stuck) says nothing and answers no pings, as if it hung.
//
// # Stamps and ages
//
// A frame carries the millisecond of its sender's clock at which it was built.
// The receiver compares that with its own clock and takes the smallest
// difference of the connection as the normal one; what a frame has above it is
// its age. So requests that lay in the socket buffer of a process that was
// stopped are recognised when it resumes. An age is an estimate, good for not
// doing work that nobody waits for any more. Safety must never depend on it.
package wire
