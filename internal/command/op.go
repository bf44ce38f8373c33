package command

import (
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
)

// Op is the number of a command in the peer protocol.
type Op uint16

// The numbers are part of the peer protocol: append only, never renumber.
const (
	OpNone Op = iota

	// Strings.
	OpGet
	OpSet
	OpSetNX
	OpSetEX
	OpPSetEX
	OpGetSet
	OpGetDel
	OpGetEX
	OpAppend
	OpStrlen
	OpGetRange
	OpSubstr
	OpSetRange
	OpIncr
	OpDecr
	OpIncrBy
	OpDecrBy
	OpIncrByFloat
	OpMGet
	OpMSet
	OpLCS

	// Bits.
	OpSetBit
	OpGetBit
	OpBitCount
	OpBitPos
	OpBitField
	OpBitFieldRO

	// Keys.
	OpDel
	OpUnlink
	OpExists
	OpTouch
	OpType
	OpExpire
	OpPExpire
	OpExpireAt
	OpPExpireAt
	OpTTL
	OpPTTL
	OpExpireTime
	OpPExpireTime
	OpPersist
	OpCopy

	// Internal: whole states, for COPY. DumpState replies a bulk with the state
	// (or null); RestoreState key state [REPLACE] replies 1 or 0.
	OpDumpState
	OpRestoreState

	// Internal: a slot-wide clear, for FLUSHALL and FLUSHDB.
	OpClear

	// What follows, up to OpWait, is answered by the proxy itself or spread over the cluster.
	OpAuth
	OpPing
	OpEcho
	OpQuit
	OpReset
	OpSelect
	OpHello
	OpClient
	OpCommand
	OpInfo
	OpConfig
	OpTime
	OpLatency
	OpMemory
	OpSlowlog
	OpRandomKey
	OpScan
	OpKeys
	OpDBSize
	OpFlushAll
	OpFlushDB
	OpCluster
	OpReadOnly
	OpReadWrite
	OpObject
	OpDebug
	OpWait

	// Hashes.
	OpHSet
	OpHMSet
	OpHSetNX
	OpHGet
	OpHMGet
	OpHGetAll
	OpHKeys
	OpHVals
	OpHDel
	OpHExists
	OpHLen
	OpHStrlen
	OpHIncrBy
	OpHIncrByFloat
	OpHRandField
	OpHScan

	// Internal: how many bytes the value of a key is, for MEMORY USAGE, or null.
	OpSizeState
)

// Sets.
const (
	OpSAdd Op = 190 + iota
	OpSRem
	OpSIsMember
	OpSMIsMember
	OpSMembers
	OpSCard
	OpSPop
	OpSRandMember
	OpSScan
	OpSMove
	OpSInter
	OpSUnion
	OpSDiff
	OpSInterCard
)

// Lists.
const (
	OpLPush Op = 160 + iota
	OpRPush
	OpLPushX
	OpRPushX
	OpLPop
	OpRPop
	OpLLen
	OpLRange
	OpLIndex
	OpLSet
	OpLInsert
	OpLRem
	OpLTrim
	OpLPos
	OpLMove
	OpRPopLPush
	// OpLMPop is LMPOP. Of one key it is sent in another form: key, LEFT or RIGHT, and the count if there is one. In a Batch it is as the client wrote it.
	OpLMPop
)

// Sorted sets.
const (
	OpZAdd Op = 215 + iota
	OpZIncrBy
	OpZRem
	OpZRemRangeByRank
	OpZRemRangeByScore
	OpZRemRangeByLex
	OpZPopMin
	OpZPopMax
	// OpZMPop is ZMPOP. Of one key it is sent in another form: key, MIN or MAX, and the count if there is one. In a Batch it is as the client wrote it.
	OpZMPop
	OpZScore
	OpZMScore
	OpZCard
	OpZRank
	OpZRevRank
	OpZCount
	OpZLexCount
	OpZRange
	OpZRevRange
	OpZRangeByScore
	OpZRevRangeByScore
	OpZRangeByLex
	OpZRevRangeByLex
	OpZRandMember
	OpZScan
)

// HyperLogLog.
const (
	OpPFAdd Op = 270 + iota
	OpPFCount
	OpPFMerge
	// Internal: the whole value of one key of PFCOUNT, or null.
	OpPFRead
)

// Keys.
const (
	OpDump Op = 280 + iota
	OpRestore
	// Internal: what a subcommand of OBJECT says of a key.
	OpObjectState
	OpSort
	OpSortRO
)

// Positions.
const (
	OpGeoAdd Op = 255 + iota
	OpGeoDist
	OpGeoHash
	OpGeoPos
	OpGeoSearch
	OpGeoRadiusRO
	OpGeoRadiusByMemberRO
	OpGeoRadius
	OpGeoRadiusByMember
)

// OpMembers is internal: all members of a set or a sorted set, for commands that put several together. Members key SET|ANY limit replies a bulk with what package algebra
// calls a collection; null for an absent key; an integer, its weight, if that is above the limit. ANY takes sorted sets, too.
const OpMembers Op = 285

// Several sorted sets, or sets.
const (
	OpZInter Op = 286 + iota
	OpZUnion
	OpZDiff
	OpZInterCard
)

// Several keys of one slot in one write, transactions, and scripts.
const (
	// OpBatch is internal: commands on keys of one slot, all at once (Batch).
	OpBatch Op = 300 + iota
	// OpWatched is internal: Watched key replies a bulk with what tells later whether the key has changed; an empty one if it had just expired, and the next time will tell.
	OpWatched

	OpMulti
	OpExec
	OpDiscard
	OpWatch
	OpUnwatch

	OpMSetNX
	OpRename
	OpRenameNX
	OpSInterStore
	OpSUnionStore
	OpSDiffStore
	OpZInterStore
	OpZUnionStore
	OpZDiffStore
	OpZRangeStore
	OpGeoSearchStore
	OpBitOp

	OpEval
	OpEvalRO
	OpEvalSHA
	OpEvalSHARO
	OpScript
	OpFunction
	OpFCall
	OpFCallRO

	// OpMove is MOVE of a client. A node is asked for OpMoveKey, which is internal: MoveKey key key, the two being the same one in two databases.
	OpMove
	OpMoveKey

	// OpCall is internal: FCALL as a node executes it. Call code numkeys key [key ...] arg [arg ...] function is with the code of the function's library, and OpCallRO is FCALL_RO.
	OpCall
	OpCallRO
)

// Commands that wait for a key to be filled. A node executes them as if the time were up at once: see Unblocked.
const (
	OpBLPop Op = 390 + iota
	OpBRPop
	OpBLMove
	OpBRPopLPush
	OpBLMPop
	OpBZPopMin
	OpBZPopMax
	OpBZMPop
)

// Streams.
const (
	OpXAdd Op = 331 + iota
	OpXLen
	OpXRange
	OpXRevRange
	OpXDel
	OpXTrim
	OpXSetID
	OpXAck
	OpXClaim
	OpXAutoClaim
	OpXPending
	// What clients write of these has its key, or its keys, behind other arguments. Of one key a node is asked for what follows.
	OpXRead
	OpXReadGroup
	OpXGroup
	OpXInfo

	// Internal, of one key, as KeyFirst writes them.
	OpXReadKey
	OpXReadGroupKey
	OpXGroupKey
	OpXInfoKey
)

// What a proxy shows of itself.
const (
	OpMonitor Op = 370 + iota
	OpACL
	OpLolwut
	OpRole
)

// The numbers of commands about messages.
const (
	OpSubscribe Op = iota + 350
	OpUnsubscribe
	OpPSubscribe
	OpPUnsubscribe
	OpSSubscribe
	OpSUnsubscribe
	// OpPublish and OpSPublish are sent to one node, whichever that is: they are on no key.
	OpPublish
	OpSPublish
	OpPubSub
)

// OpAsking is for proxies only, as READONLY is.
const OpAsking Op = 376

// OpFlushKey is internal: it deletes a key of a database that is flushed, of which nobody is told (package notify).
const OpFlushKey Op = 400

// OpWaitAOF is for proxies only, as WAIT is.
const OpWaitAOF Op = 401

// Publishes reports whether a command publishes a message.
func (o Op) Publishes() bool { return o == OpPublish || o == OpSPublish }

// Request is one command on one key as proxy, home and data types see it.
type Request struct {
	Op Op
	// RESP3 says in which protocol version the reply is to be built.
	RESP3 bool
	// Versioned asks for the version that the command's effect gets.
	Versioned bool
	// Database is, of a script, the number of the database in which it begins. Other commands need none: their keys say it.
	Database uint8
	// Owned says that the arguments may be part of a state: those of up to record.CopiedValue bytes last until the request is
	// answered, longer ones are nobody else's and never change.
	Owned bool
	// Expired says that there was a value which has expired: it is executed as if there were none, and that is an event. Stale says that the key has another version than Of, as the home has found out.
	Expired, Stale bool
	// Tracking is what is noted of the use of keys, Idle for how many seconds this one was not used, and Frequency how often it was, for OBJECT. They are the executing node's.
	Tracking  eviction.Tracking
	Frequency uint8
	// Events are the classes of events that are to be told of it, 0 for none. They are the home's.
	Events notify.Class
	// Args are the command's arguments, Args[0] its name as the client wrote it and
	// Args[1] its key. They are borrowed: whoever keeps a request copies them.
	Args [][]byte
	Idle int64
	// MaxValue is how long a value may become, in bytes: 0 stands for the longest that there is. It is the
	// executing node's, and does not travel.
	MaxValue int
	// MaxCollection is the same for a hash, list, set or sorted set, whose elements are bounded as arguments are: 0 stands for MaxValue.
	MaxCollection int
	// Random is what a command makes its random choices of (HRANDFIELD, SPOP). It is the executing node's, too.
	Random uint64
	// Of is the version that the key must have for the command to be of any use, zero for any.
	Of record.Version
	// Version is that of the command's effect if it is Versioned, zero as long as it is not known to be of this command alone. It is the home's.
	Version record.Version
}
