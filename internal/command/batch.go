package command

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/quolldb/quoll/internal/database"
)

// Batch is what a proxy asks of a slot's home in one request (OpBatch): commands on keys of that slot, which are executed one after the other, with nothing of anybody
// else between them, and of which all effects are there at once, or none. It is a transaction of a client, or one command of several keys.
type Batch struct {
	// Array says that the reply is that of EXEC: an array with the reply of each command, or null if a watched key has changed. Without
	// it there is one command, and the reply is its reply.
	Array bool
	// Shown says that the reply is to begin with what its scripts have called (CallList), for those who monitor.
	Shown bool
	// Rules are those of the user whose scripts these are, if they restrict it (package acl), nil if it may do everything. The reply begins then with what was denied (DenialList). Commands that are
	// no scripts are not looked at: the proxy has.
	Rules []byte
	// Listing says that the batch names all keys of a database, nil if it does not.
	Listing *Listing
	// Watched are keys that must not have changed, or nothing is done.
	Watched []Watched
	// Also are keys that scripts of the batch use though they did not name them: those that the reply to an earlier attempt has named (MissingKeys).
	Also [][]byte
	// Commands are what is to be done. Their arguments, the names included, are borrowed.
	Commands []Request
}

// Watched is a key, and what OpWatched replied of it.
type Watched struct{ Key, Version []byte }

// ErrBatch is returned for what is no batch.
var ErrBatch = errors.New("command: this is no batch; proxy and node may be of different versions")

// batchName is the name under which a batch is sent.
var batchName = []byte("BATCH")

// Request returns the request that is sent, with the arguments of the commands. It is named after a key, one of those of the batch, as
// requests on one key are.
func (b *Batch) Request(key []byte, resp3 bool) Request {
	args := make([][]byte, 0, 5+2*len(b.Watched)+len(b.Also)+b.arguments())
	args = append(args, batchName, key, nil)
	header := make([]byte, 0, 8+4*len(b.Commands))
	header = binary.AppendUvarint(header, b.form())
	header = binary.AppendUvarint(header, uint64(len(b.Watched)))
	header = binary.AppendUvarint(header, uint64(len(b.Also)))
	if b.Rules != nil {
		args = append(args, b.Rules)
	}
	if b.Listing != nil {
		args = append(args, b.Listing.encoded())
	}
	for _, w := range b.Watched {
		args = append(args, w.Key, w.Version)
	}
	args = append(args, b.Also...)
	for i := range b.Commands {
		c := &b.Commands[i]
		header = binary.AppendUvarint(header, uint64(c.Op)*database.Count+uint64(c.Database))
		header = binary.AppendUvarint(header, uint64(len(c.Args)))
		args = append(args, c.Args...)
	}
	args[2] = header
	return Request{Op: OpBatch, RESP3: resp3, Args: args}
}

// The bits of the number with which a batch begins.
const (
	arrayForm = 1 << iota
	shownForm
	ruledForm
	listedForm
)

func (b *Batch) form() (form uint64) {
	if b.Array {
		form |= arrayForm
	}
	if b.Shown {
		form |= shownForm
	}
	if b.Rules != nil {
		form |= ruledForm
	}
	if b.Listing != nil {
		form |= listedForm
	}
	return form
}

// ParseBatch is the reverse of Request. What it returns are views of the arguments. The error is ErrBatch. Whether the commands
// exist, and have as many arguments as they need, is for whoever executes them to see.
func ParseBatch(req *Request) (*Batch, error) {
	if len(req.Args) < 3 {
		return nil, ErrBatch
	}
	header, rest := req.Args[2], req.Args[3:]
	number := func() (n uint64, ok bool) {
		n, size := binary.Uvarint(header)
		if size <= 0 {
			return 0, false
		}
		header = header[size:]
		return n, true
	}
	form, _ := number()
	watched, _ := number()
	also, ok := number()
	ruled := form&ruledForm != 0
	if ruled && len(rest) == 0 {
		return nil, ErrBatch
	}
	var rules []byte
	if ruled {
		rules, rest = rest[0], rest[1:]
	}
	var listing *Listing
	if form&listedForm != 0 {
		if len(rest) == 0 {
			return nil, ErrBatch
		}
		var err error
		if listing, err = parseListing(rest[0]); err != nil {
			return nil, ErrBatch
		}
		rest = rest[1:]
	}
	if !ok || form > arrayForm|shownForm|ruledForm|listedForm || watched > uint64(len(rest)/2) || also > uint64(len(rest))-2*watched {
		return nil, ErrBatch
	}
	b := &Batch{Array: form&arrayForm != 0, Shown: form&shownForm != 0, Rules: rules, Listing: listing}
	if watched > 0 {
		b.Watched = make([]Watched, watched)
	}
	for i := range b.Watched {
		b.Watched[i], rest = Watched{rest[0], rest[1]}, rest[2:]
	}
	if also > 0 {
		b.Also, rest = rest[:also:also], rest[also:]
	}
	if n := min(numbers(header)/2, len(rest)); n > 0 {
		b.Commands = make([]Request, 0, n)
	}
	for len(header) > 0 {
		what, _ := number()
		n, ok := number()
		op := what / database.Count
		if !ok || n == 0 || n > uint64(len(rest)) || op >= uint64(Ops()) {
			return nil, ErrBatch
		}
		b.Commands = append(b.Commands, Request{Op: Op(op), Database: uint8(what % database.Count), RESP3: req.RESP3, Args: rest[:n:n], Owned: req.Owned})
		rest = rest[n:]
	}
	if len(rest) > 0 || !b.Array && len(b.Commands) != 1 {
		return nil, ErrBatch
	}
	return b, nil
}

// arguments is how many arguments the commands have.
func (b *Batch) arguments() (n int) {
	for i := range b.Commands {
		n += len(b.Commands[i].Args)
	}
	return n
}

// numbers is how many numbers are in a header, or what is left of one.
func numbers(header []byte) (n int) {
	for _, b := range header {
		if b < 0x80 { // the last byte of one
			n++
		}
	}
	return n
}

// Keys returns the different keys of a batch: the one that its request is named after, watched ones, and those of the commands. They are views. It reports false if a
// command is unknown, or has not as many arguments as it needs. One that says wrongly how many keys it has counts as one without keys: whoever executes it says what is wrong.
func (b *Batch) Keys(named []byte) (keys [][]byte, ok bool) {
	keys = make([][]byte, 0, 1+len(b.Watched)+len(b.Also)+len(b.Commands))
	var seen map[string]struct{}
	add := func(key []byte) {
		if seen == nil && len(keys) < fewKeys {
			if !contains(keys, key) {
				keys = append(keys, key)
			}
			return
		}
		if seen == nil {
			seen = make(map[string]struct{}, cap(keys))
			for _, key := range keys {
				seen[string(key)] = struct{}{}
			}
		}
		if _, there := seen[string(key)]; !there {
			seen[string(key)] = struct{}{}
			keys = append(keys, key)
		}
	}
	add(named)
	for _, w := range b.Watched {
		add(w.Key)
	}
	for _, key := range b.Also {
		add(key)
	}
	for i := range b.Commands {
		c := ByOp(b.Commands[i].Op)
		if c == nil || !c.ArityOK(len(b.Commands[i].Args)) {
			return nil, false
		}
		of, _ := c.AllKeys(b.Commands[i].Args)
		for _, key := range of {
			add(key)
		}
	}
	return keys, true
}

// fewKeys is among how many keys one is looked for in their order.
const fewKeys = 16

func contains(keys [][]byte, key []byte) bool {
	for _, other := range keys {
		if bytes.Equal(other, key) {
			return true
		}
	}
	return false
}

// missingKeys begins the reply to a batch of which a script has used keys that are not the batch's. No client sees it, and no command or script can reply it: no RESP
// begins so.
const missingKeys = "?MISSINGKEYS"

// AppendMissingKeys appends the reply to a batch of which a script has used keys that the batch does not name: nothing was done, and it has to be sent again with them.
func AppendMissingKeys(dst []byte, keys [][]byte) []byte {
	dst = append(dst, missingKeys...)
	for _, key := range keys {
		dst = hex.AppendEncode(append(dst, ' '), key)
	}
	return append(dst, "\r\n"...)
}

// MissingKeys is the reverse of AppendMissingKeys. It reports false for any other reply.
func MissingKeys(reply []byte) (keys [][]byte, ok bool) {
	rest, ok := bytes.CutPrefix(reply, []byte(missingKeys))
	if !ok {
		return nil, false
	}
	for _, word := range bytes.Split(bytes.TrimSuffix(rest, []byte("\r\n")), []byte(" "))[1:] {
		key := make([]byte, hex.DecodedLen(len(word)))
		if _, err := hex.Decode(key, word); err != nil {
			return nil, false
		}
		keys = append(keys, key)
	}
	return keys, len(keys) > 0
}
