package resp

// MaxBatch is the highest number of commands in a Batch.
const MaxBatch = 1024

// Batch is a series of commands that arrived together. The zero Batch is empty
// and ready for use; reuse it, and in steady state it allocates nothing.
type Batch struct {
	args [][]byte
	ends []int // ends[i] is the index in args behind the last argument of command i
}

// Len returns the number of commands.
func (b *Batch) Len() int { return len(b.ends) }

// Command returns the arguments of command i, its name first: at least one. They
// are views into the buffer of the Reader that filled the batch, valid until
// ReadBatch is called again.
func (b *Batch) Command(i int) [][]byte {
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	end := b.ends[i]
	return b.args[start:end:end]
}

// keptArgs is how many arguments a batch may keep room for. More are needed only
// by single commands with very many arguments.
const keptArgs = 16 * MaxBatch

// reset empties the batch. forget drops its memory of earlier arguments, so that it
// does not keep alive a buffer which the Reader has given up.
func (b *Batch) reset(forget bool) {
	b.ends = b.ends[:0]
	switch {
	case cap(b.args) > keptArgs:
		b.args = nil
	case forget:
		clear(b.args[:cap(b.args)])
		fallthrough
	default:
		b.args = b.args[:0]
	}
}

// add appends a command whose arguments are the spans of request.
func (b *Batch) add(request []byte, spans []span) {
	for _, s := range spans {
		end := s.start + s.length
		b.args = append(b.args, request[s.start:end:end])
	}
	b.ends = append(b.ends, len(b.args))
}
