package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// ErrTooLong is the text of the error for a value that would be longer than it may be, which is Redis'.
const ErrTooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"

// The error texts of Redis 7.0.
const (
	errWrongType     = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errSyntax        = "ERR syntax error"
	errNotInteger    = "ERR value is not an integer or out of range"
	errNotFloat      = "ERR value is not a valid float"
	errFloatRange    = "ERR increment would produce NaN or Infinity"
	errOverflow      = "ERR increment or decrement would overflow"
	errDecrOverflow  = "ERR decrement would overflow"
	errOffset        = "ERR offset is out of range"
	errBitOffset     = "ERR bit offset is not an integer or out of range"
	errBitValue      = "ERR bit is not an integer or out of range"
	errBitArgument   = "ERR The bit argument must be 1 or 0."
	errFieldType     = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	errFieldOverflow = "ERR Invalid OVERFLOW type specified"
	errFieldReadOnly = "ERR BITFIELD_RO only supports the GET subcommand"
	errNXWithOther   = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errGTWithLT      = "ERR GT and LT options at the same time are not compatible"
	errBadDump       = "ERR Bad data format"

	errBusyKey  = "BUSYKEY Target key name already exists."
	errTTL      = "ERR Invalid TTL value, must be >= 0"
	errChecksum = "ERR DUMP payload version or checksum are wrong"

	errNoSketch      = "WRONGTYPE Key is not a valid HyperLogLog string value."
	errCorruptSketch = "INVALIDOBJ Corrupted HLL object detected"

	errFieldNotInteger = "ERR hash value is not an integer"
	errFieldNotFloat   = "ERR hash value is not a float"
	errNotFinite       = "ERR value is NaN or Infinity"
	errNotPositive     = "ERR value is out of range, must be positive"
	errOutOfRange      = "ERR value is out of range"
	errLongRange       = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"

	errNoLRU          = "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	errNoLFU          = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	errNoKey          = "ERR no such key"
	errSameKey        = "ERR source and destination objects are the same"
	errNumKeys        = "ERR numkeys should be greater than 0"
	errPopCount       = "ERR count should be greater than 0"
	errNotStrings     = "ERR The specified keys must contain string values"
	errManyNot        = "ERR BITOP NOT must be called with a single source key."
	errIndex          = "ERR index out of range"
	errNegativeCount  = "ERR COUNT can't be negative"
	errNegativeMaxLen = "ERR MAXLEN can't be negative"
	errRank           = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"
)

// The error texts of sorted sets.
const (
	errXXWithNX      = "ERR XX and NX options at the same time are not compatible"
	errGTLTNX        = "ERR GT, LT, and/or NX options at the same time are not compatible"
	errIncrPairs     = "ERR INCR option supports a single increment-element pair"
	errScoreNaN      = "ERR resulting score is not a number (NaN)"
	errBoundNotFloat = "ERR min or max is not a float"
	errBoundNotLex   = "ERR min or max not valid string range item"
	errRankLimit     = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	errLexScores     = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
)

// The error texts of SORT, those behind the first Quoll's own.
const (
	errSortNumber  = "ERR One or more scores can't be converted into double"
	errSortPattern = "ERR BY and GET of SORT look at several keys, and SORT was sent as a command of one; proxy and node may be of different versions. Nothing was done"
	errSortStore   = "ERR STORE of SORT is of several keys, and was sent as a command of one; proxy and node may be of different versions. Nothing was done"
	errMuchSort    = "ERR what is to be sorted is longer than 120 MiB; nothing was done"
)

// The error texts of positions.
const (
	errUnit           = "ERR unsupported unit provided. please use M, KM, FT, MI"
	errRadius         = "ERR need numeric radius"
	errNegativeRadius = "ERR radius cannot be negative"
	errWidth          = "ERR need numeric width"
	errHeight         = "ERR need numeric height"
	errNegativeBox    = "ERR height or width cannot be negative"
	errCount          = "ERR COUNT must be > 0"
	errAny            = "ERR the ANY argument requires COUNT argument"
	errGeoStore       = "ERR STORE and STOREDIST of GEORADIUS are of several keys, and were sent as a command of one; proxy and node may be of different versions. Nothing was done"
	errGeoStoreWith   = "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
	errGeoSearchWith  = "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
	errNoPosition     = "ERR could not decode requested zset member"
)

// What Redis has no limit for.
const (
	errMuchReply    = "ERR the reply would be longer than 120 MiB; ask for less, or use HSCAN, SSCAN or ZSCAN"
	errMuchCombined = "ERR these sets are too large to be put together: that would take more than 128 MiB; nothing was done"
	errNoDump       = "ERR values of this type cannot be dumped yet by Quoll"
	errNoRestore    = "ERR the payload is of a type that is not supported yet by Quoll; nothing was done"
	errReplyTooLong = "ERR the reply would be longer than a value may be (proto-max-bulk-len); ask for less"
)

// errTooLong is the error for a hash, list, set or sorted set that would be longer than it may be, for which Redis has no limit.
func errTooLong(t record.Type) string {
	return "ERR the " + t.String() + " would be longer than a value may be (proto-max-bulk-len, max-collection); nothing was done"
}

// noEffect is the effect of reads and of commands that change nothing.
var noEffect record.Effect

// refuse replies an error. Like every refused command it has no effect.
func refuse(dst []byte, text string) ([]byte, record.Effect) {
	return resp.AppendError(dst, text), noEffect
}

// errExpireTime is the error for an expiry that is not positive or out of range.
func errExpireTime(req *command.Request) string {
	return "ERR invalid expire time in '" + commandName(req) + "' command"
}

// errArity is the error for a number of arguments that the command does not take.
func errArity(req *command.Request) string {
	return "ERR wrong number of arguments for '" + commandName(req) + "' command"
}

// commandName returns the name of the command as Redis writes it in errors.
func commandName(req *command.Request) string {
	if len(req.Args) == 0 {
		return ""
	}
	return string(bytes.ToLower(req.Args[0]))
}
