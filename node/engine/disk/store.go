package disk

// Store keeps in the background what the engine has changed. It is a map whose keys are ordered by their bytes. What is written
// becomes durable in the order of the calls: after a crash a prefix of them is there.
//
// Write, Sync, Drop and Reclaim are called by one goroutine at a time each, View by any number.
type Store interface {
	// View calls read with what is there, which does not change meanwhile as far as an iterator shows it. It returns read's error,
	// or why the store cannot be read; what cannot be read is never missing.
	View(read func(Reader) error) error

	// Write writes what fill asks for. engine.ErrFull (wrapped) says that there is no space, now: it may be tried again.
	// The slices that fill hands over may not change any more.
	Write(fill func(Writer) error) error

	// Drop removes keys from one on to below another, some at least, and reports whether those were all.
	Drop(from, to []byte) (all bool, err error)

	// Sync makes durable what was written. engine.ErrFull is as with Write, and any other error is final.
	Sync() error

	// Reclaim gives back some space of what is obsolete, without a pause if space is short. It reports whether it
	// was much work, after which it should rest for a while.
	Reclaim(short bool) (much bool, err error)

	// Compact gives back all space that it can.
	Compact() error

	// Missing returns the name of a file of the store that was deleted, "" if there is none.
	Missing() string

	// End says that the store is about to be closed: from now on nothing waits for space.
	End()

	// Close closes the store. Abandon leaves it as a crash would: it writes nothing any more, and calls that wait for something return. It may be called
	// beside them, and again.
	Close() error
	Abandon()
}

// Reader reads a Store.
type Reader interface {
	// Get returns a copy of the value of a key, and whether there is one.
	Get(key []byte) (value []byte, found bool, err error)

	// Iterate returns an iterator over the keys with a prefix, from the first one on that is not below from (nil: from the prefix).
	// It has to be closed before the reading ends, and before the next one.
	Iterate(prefix, from []byte) Iterator
}

// Iterator goes over keys in their order. After it is not valid any more Err says whether those were all.
type Iterator interface {
	Valid() bool
	Next()
	// Key is borrowed until Next, Value a copy.
	Key() []byte
	Value() ([]byte, error)
	Err() error
	Close()
}

// Writer is what a Write consists of.
type Writer interface {
	Set(key, value []byte) error
	Delete(key []byte) error
}

// Kind is one sort of Store.
type Kind struct {
	// Name is that of the engine.
	Name string
	// ApartFrom is the size of the values that are apart from their records; see large.go.
	ApartFrom int
	// Least returns the space that the store may need to start or to end.
	Least func(*Options) int64
	// Floor returns the space below which nothing is written to the store, nor compacted.
	Floor func(*Options) int64
	// Open opens the store in Options.Dir, or makes one. engine.ErrCorrupt (wrapped) says that files are damaged or missing.
	// The store calls fail when something is wrong that nobody can mend.
	Open func(opt Options, fail func(error)) (Store, error)
}

// each calls visit for the keys with a prefix, from one on (nil: all), until it returns false.
func each(r Reader, prefix, from []byte, visit func(it Iterator) (bool, error)) error {
	it := r.Iterate(prefix, from)
	defer it.Close()
	for ; it.Valid(); it.Next() {
		if more, err := visit(it); err != nil || !more {
			return err
		}
	}
	return it.Err()
}
