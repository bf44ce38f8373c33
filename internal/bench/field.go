package bench

// fields names the fields of hashes. Each hash has the fields f0000000, f0000001, …, which are there all the time. What has to be
// absent now and then, or is a number, has other names: what is known of the former holds whatever is done to the latter.
type fields struct {
	count, size int
	names       keyspace
	temporary   keyspace
	counter     []byte
	sum         uint64 // of all fields' numbers, mixed: which fields there are, in any order
}

const (
	fieldLetter     = "f"
	temporaryLetter = "t"
	counterLetter   = "c"

	// temporaryFrom is the number of the first temporary field.
	temporaryFrom = 1 << 31
	fieldBits     = 32
)

func newFields(count, size int) fields {
	f := fields{
		count: count, size: size,
		names: newKeyspace(fieldLetter, size), temporary: newKeyspace(temporaryLetter, size),
		counter: newKeyspace(counterLetter, size).frame,
	}
	for number := range uint64(count) {
		f.sum += mix(number)
	}
	return f
}

// append appends the name of a field.
func (f *fields) append(dst []byte, field uint64) []byte {
	if field >= temporaryFrom {
		return f.temporary.append(dst, field-temporaryFrom)
	}
	return f.names.append(dst, field)
}

// number is that of the field with a name. There is none if it is another run's, temporary or a counter.
func (f *fields) number(name []byte) (number uint64, ok bool) {
	if len(name) != f.size || name[0] != fieldLetter[0] {
		return 0, false
	}
	n, ok := integer(name[1:])
	return uint64(n), ok && n >= 0 && n < int64(f.count)
}

// valueNumber is the number of which a field's value is a function.
func valueNumber(key, field uint64) uint64 { return key<<fieldBits | field }

// step is by how much a key's counter is incremented each time, so that every value of it is a multiple of that.
func step(key uint64) int64 { return 1 + int64(mix(key)%9999) }
