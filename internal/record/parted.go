package record

// Parted is an Object that a store may keep in parts, so that a change of it writes parts of it only. The parts are a tree, and
// immutable like the object: one that two objects share is the same value in both.
type Parted interface {
	Object
	// Root returns the part that is above all others, always the same. The first call costs more if other objects were made of this one before.
	Root() Part
	// Source returns where the object reads parts of it when somebody needs them, nil if all of it is in memory.
	Source() Source
}

// Part is one part of a Parted. Of one that is not in memory all but Stored read it, and panic with Unreadable if that fails.
type Part interface {
	// Parts returns how many parts are just below this one, Part one of them, from 0 on.
	Parts() int
	Part(i int) Part
	// AppendPart appends what the part holds besides those below it.
	AppendPart(dst []byte) []byte
	// Stored returns where the part notes where a store keeps it. It belongs to that store alone, which lets one goroutine at a time
	// look at it; everybody else leaves it as it is. The zero Place says that no store has the part.
	Stored() *Place
}

// Place says where a store keeps a part: under two numbers, one of the object and one of the part. No other part ever has both.
type Place struct{ Object, Part uint64 }

// Source is what a store gives an object to read its parts from: all at once, or each when it is needed. What the store has of the object stays
// there for as long as anything refers to the Source. Any goroutine may use it.
type Source interface {
	// Read calls decode with what the store keeps at a place: what AppendPart has appended, which may be kept, and the places of the parts
	// below. An error is one of the store, or decode's, and means that the object cannot be read.
	Read(at Place, decode func(content []byte, below []Place) error) error
	// Whole reports whether an object of a size in bytes is to be in memory as a whole.
	Whole(size int) bool
	// Room reports whether there is room to keep so many bytes of what was read only because somebody goes through the object.
	Room(n int) bool
	// Kept tells how many bytes of memory what was read takes for as long as the object is there. Its Memory is without them.
	Kept(n int)
}

// Unreadable is what a method of an Object panics with if its store cannot read what is needed, and the method has no other way to say so: it never
// returns anything else than the object. Whoever calls such a method for an object that may be partly in a store catches it. It has changed nothing.
type Unreadable struct{ Err error }

// Error says what could not be read, for whoever does not catch it.
func (u Unreadable) Error() string { return u.Err.Error() }

// Catch makes an error of a panic with Unreadable. It is deferred.
func Catch(err *error) {
	switch cause := recover().(type) {
	case nil:
	case Unreadable:
		*err = cause.Err
	default:
		panic(cause)
	}
}
