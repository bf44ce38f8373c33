// Package protocol is what proxies and nodes say to each other over package wire:
// the frame types, the batches of operations that a proxy sends and the votes that
// it gets back, what homes ask of replicas and what these answer, what a node tells of itself in the handshake, and calls for
// everything that is rare.
//
// All messages are encoded by appending to a frame and decoded as views into it.
package protocol

import "github.com/quolldb/quoll/internal/wire"

// OnlyCrowded is the body of a FrameFull of a node that has no room for more data, but has for deletions.
const OnlyCrowded = 1

// OverLimit begins the body of a FrameFull of a node that has room, but more data than it is to have: so many bytes (uvarint) the homes of its slots are to evict.
const OverLimit = 2

// The frame types. The numbers are part of the peer protocol.
const (
	FrameBatch          = wire.FirstFrameType + iota // proxy -> node: operations
	FrameBatchReply                                  // node -> proxy: their results
	FrameReplicate                                   // node -> node: requests of homes to replicas
	FrameReplicateReply                              // node -> node: the replicas' replies
	FrameCall                                        // any -> node: a rare request
	FrameCallReply                                   // node -> any
	FrameFull                                        // node -> node: it has no room for writes; empty, or OnlyCrowded; holds for a second
	FrameLeaving                                     // node -> node: it is ending, and hands its slots over; empty
	FrameLeading                                     // node -> node: the slots that it leads, a bitmap of 16,384 bits, when it has connected
	FrameSlow                                        // node -> node: the other takes much longer to answer than a third one; empty, holds for a second
	FrameClock                                       // node -> node: the time by its system, Unix milliseconds as a uint64
	FramePiece                                       // node -> node: a piece of an object, ahead of what refers to it
	FrameObjectsReply                                // node -> node: a FrameCallReply that refers to objects that went ahead
	FrameRing                                        // node -> any: RingNews, when it knows a later version
	FrameConsensus                                   // node -> node: a message of the Raft group (package consensus), for one life of a node
	FrameInterest                                    // proxy -> node: to what its clients subscribe, as far as it has changed
	FrameInterestDone                                // node -> proxy: the answer to that
	FramePublish                                     // proxy -> node: messages to publish; each is answered as an operation is (FrameBatchReply)
	FrameMessages                                    // node -> proxy: messages that it is interested in
)

// The frame types of keys that are watched: see watch.go.
const (
	FrameWatch         = wire.FirstFrameType + 24 + iota // proxy -> node: WatchRequests
	FrameWatched                                         // node -> proxy: the numbers of those that are in effect
	FrameChanged                                         // node -> proxy: KeyChanges
	FramePrefixChanged                                   // node -> proxy: PrefixChanges
)

// FrameReplyPiece is sent by a node to a proxy: a ReplyPiece, ahead of the result that it belongs to.
const FrameReplyPiece = FramePrefixChanged + 1
