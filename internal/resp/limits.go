package resp

// Limits cap what a client may send. A zero field means the default.
type Limits struct {
	// MaxBulk is the length of one argument in bytes.
	MaxBulk int
	// MaxArgs is the number of arguments of one command.
	MaxArgs int
	// MaxInline is the length of an inline command, and of the line that declares a
	// length, in bytes. At least 16.
	MaxInline int
	// MaxRequest is the length of one command in bytes, as it is on the wire. It is
	// what bounds the read buffer. At most 2 GiB.
	MaxRequest int
	// Unauthenticated says that these are the limits before authentication: a
	// violation is reported as Redis does then, and a batch is a single command,
	// because what may follow depends on what that command achieves.
	Unauthenticated bool
}

// The default limits. MaxRequest is the client-query-buffer-limit of Redis.
const (
	DefaultMaxBulk    = 64 << 20
	DefaultMaxArgs    = 1 << 20
	DefaultMaxInline  = 64 << 10
	DefaultMaxRequest = 1 << 30
)

const (
	// lowestMaxInline leaves room for the length of any bulk that fits in memory.
	lowestMaxInline = 16
	// highestMaxRequest keeps offsets within a request in 32 bits.
	highestMaxRequest = 1<<31 - 1
)

// BeforeAuthentication returns the limits of a client that has yet to
// authenticate: 10 arguments of 16 KiB, as in Redis since CVE-2021-32675.
func (l Limits) BeforeAuthentication() Limits {
	l = l.withDefaults()
	l.MaxBulk = min(l.MaxBulk, 16<<10)
	l.MaxArgs = min(l.MaxArgs, 10)
	l.Unauthenticated = true
	return l
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.MaxBulk, DefaultMaxBulk)
	setDefault(&l.MaxArgs, DefaultMaxArgs)
	setDefault(&l.MaxInline, DefaultMaxInline)
	setDefault(&l.MaxRequest, DefaultMaxRequest)
	l.MaxInline = max(l.MaxInline, lowestMaxInline)
	l.MaxRequest = min(l.MaxRequest, highestMaxRequest)
	return l
}

func setDefault(field *int, value int) {
	if *field <= 0 {
		*field = value
	}
}

// ProtocolError says that a client does not speak RESP, or exceeds a limit. The
// stream cannot be read any further: answer AppendError(dst, "ERR "+err.Error())
// and close the connection.
type ProtocolError struct {
	// Reason is the text after "Protocol error: ".
	Reason string
}

// Error returns the text that Redis sends.
func (e *ProtocolError) Error() string { return "Protocol error: " + e.Reason }

// ErrHTTP says that the client speaks HTTP, as a web page can make a browser do, to any port and, if a name is made to point to it, with any
// method: the first line of a request is an inline command that can be executed, such as DEL /key HTTP/1.1.
var ErrHTTP = &ProtocolError{"this is no HTTP server"}

// The protocol errors with a fixed text.
var (
	errArrayLength      = &ProtocolError{"invalid multibulk length"}
	errBulkLength       = &ProtocolError{"invalid bulk length"}
	errArrayLengthAuth  = &ProtocolError{"unauthenticated multibulk length"}
	errBulkLengthAuth   = &ProtocolError{"unauthenticated bulk length"}
	errArrayLineTooLong = &ProtocolError{"too big mbulk count string"}
	errBulkLineTooLong  = &ProtocolError{"too big bulk count string"}
	errInlineTooLong    = &ProtocolError{"too big inline request"}
	errRequestTooLong   = &ProtocolError{"too big request"}
	errQuotes           = &ProtocolError{"unbalanced quotes in request"}
)
