package notify

// Class is a set of classes of events, and of the two kinds of channels on which they are published. The bits are part of the peer protocol.
type Class uint16

// The kinds of channels, and the classes.
const (
	Keyspace  Class = 1 << iota // K: channels that name the key
	Keyevent                    // E: channels that name the event
	Generic                     // g: of keys of any type, as del, expire and rename_to
	String                      // $
	Lists                       // l
	Set                         // s
	Hash                        // h
	SortedSet                   // z
	Expired                     // x: a key that has expired was deleted
	Evicted                     // e
	Stream                      // t
	Missed                      // m: a command that reads found no key
	Module                      // d: Quoll has no modules
	New                         // n: a key came into being

	// Channels are both kinds of channels.
	Channels = Keyspace | Keyevent
	// All is what A stands for: neither Missed nor New.
	All = Generic | String | Lists | Set | Hash | SortedSet | Expired | Evicted | Stream | Module
)

// letters are the classes in the order in which Redis shows them, those that A contains first.
var letters = [...]struct {
	letter byte
	class  Class
}{
	{'g', Generic}, {'$', String}, {'l', Lists}, {'s', Set}, {'h', Hash}, {'z', SortedSet}, {'x', Expired}, {'e', Evicted}, {'t', Stream}, {'d', Module},
	{'n', New}, {'K', Keyspace}, {'E', Keyevent}, {'m', Missed},
}

// Letters are all that there are, in the order of Redis' error.
const Letters = "Ag$lshzxeKEtmdn"

// Parse reads classes as notify-keyspace-events has them: Kx, AKE. It reports false if there is a letter that is none.
func Parse(text string) (set Class, ok bool) {
	for i := range len(text) {
		class := classOf(text[i])
		if class == 0 {
			return 0, false
		}
		set |= class
	}
	return set, true
}

func classOf(letter byte) Class {
	if letter == 'A' {
		return All
	}
	for _, l := range letters {
		if l.letter == letter {
			return l.class
		}
	}
	return 0
}

// String returns the letters, in the order and with the abbreviation of Redis, which does not show n beside A.
func (set Class) String() string {
	var text []byte
	hidden := Class(0)
	if set&All == All {
		text, hidden = append(text, 'A'), All|New
	}
	for _, l := range letters {
		if set&l.class&^hidden != 0 {
			text = append(text, l.letter)
		}
	}
	return string(text)
}

// On returns the classes that are told on one kind of channel, if a set asks for that.
func (set Class) On(channels Class) Class {
	if set&channels == 0 {
		return 0
	}
	return set &^ Channels
}
