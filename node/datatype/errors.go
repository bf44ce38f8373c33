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

	errFieldNotInteger = "ERR hash value is not an integer"
	errFieldNotFloat   = "ERR hash value is not a float"
	errNotFinite       = "ERR value is NaN or Infinity"
	errOutOfRange      = "ERR value is out of range"
	errLongRange       = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
)

// What Redis has no limit for.
const (
	errHashTooLong  = "ERR the hash would be longer than a value may be (proto-max-bulk-len); nothing was done"
	errMuchReply    = "ERR the reply would be longer than 120 MiB; ask for less, or use HSCAN"
	errReplyTooLong = "ERR the reply would be longer than a value may be (proto-max-bulk-len); ask for less"
)

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
