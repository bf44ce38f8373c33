package command

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

// Request is one command on one key as proxy, home and data types see it.
type Request struct {
	Op Op
	// RESP3 says in which protocol version the reply is to be built.
	RESP3 bool
	// Args are the command's arguments, Args[0] its name as the client wrote it and
	// Args[1] its key. They are borrowed: whoever keeps a request copies them.
	Args [][]byte
	// Owned says that the arguments may be part of a state: those of up to record.CopiedValue bytes last until the request is
	// answered, longer ones are nobody else's and never change.
	Owned bool
	// MaxValue is how long a value may become, in bytes: 0 stands for the longest that there is. It is the
	// executing node's, and does not travel.
	MaxValue int
	// MaxHash is the same for a hash, whose values and names of fields are bounded as those of arguments are: 0 stands for MaxValue.
	MaxHash int
	// Random is what a command makes its random choices of (HRANDFIELD). It is the executing node's, too.
	Random uint64
}
