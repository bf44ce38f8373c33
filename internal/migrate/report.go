package migrate

import "time"

// Tally counts what became of keys.
type Tally struct {
	// Keys are all that were looked at: the sum of the others.
	Keys uint64 `json:"keys"`
	// Copied were written, Same were there already with the same value and expiry, and Expired expired or were deleted before they were copied.
	Copied  uint64 `json:"copied"`
	Same    uint64 `json:"same"`
	Expired uint64 `json:"expired"`
	// Existing were left as they are at the target, because another value is there; see Options.Replace.
	Existing uint64 `json:"existing"`
	// Unsupported are of types that Quoll does not have, TooLong longer than the target takes, Refused were refused by it for another reason.
	Unsupported uint64 `json:"unsupported"`
	TooLong     uint64 `json:"too_long"`
	Refused     uint64 `json:"refused"`
	// Lasting are those of Copied and Same that do not expire.
	Lasting uint64 `json:"lasting"`
	// Bytes are those of the values of Copied, as they were dumped.
	Bytes uint64 `json:"bytes"`
}

func (t *Tally) add(other *Tally) {
	t.Keys += other.Keys
	t.Copied += other.Copied
	t.Same += other.Same
	t.Expired += other.Expired
	t.Existing += other.Existing
	t.Unsupported += other.Unsupported
	t.TooLong += other.TooLong
	t.Refused += other.Refused
	t.Lasting += other.Lasting
	t.Bytes += other.Bytes
}

// count counts an item.
func (t *Tally) count(i *item, what outcome) {
	t.Keys++
	*[...]*uint64{copied: &t.Copied, same: &t.Same, existing: &t.Existing, expired: &t.Expired, unsupported: &t.Unsupported, tooLong: &t.TooLong, refused: &t.Refused}[what]++
	if what == copied {
		t.Bytes += uint64(len(i.payload))
	}
	if what <= same && i.expireAt == 0 {
		t.Lasting++
	}
}

// LeftOut is how many keys were not copied.
func (t *Tally) LeftOut() uint64 { return t.Existing + t.Unsupported + t.TooLong + t.Refused }

// Report says what was done.
type Report struct {
	From string `json:"from"`
	To   string `json:"to"`
	Tally
	// Libraries are those of functions.
	Libraries Libraries `json:"libraries"`
	// Resumed: it went on from the state file.
	Resumed bool `json:"resumed,omitempty"`
	// Elsewhere are the keys of other databases of the source, which were not looked at.
	Elsewhere uint64        `json:"elsewhere"`
	Elapsed   time.Duration `json:"-"`
	Seconds   float64       `json:"seconds"`
	// Examples are the first few keys of each kind that were not copied, or differ.
	Examples []Example `json:"examples,omitempty"`
	// Verified is nil if it came to no verification.
	Verified *Verified `json:"verified,omitempty"`
}

// Example is a key, and what is the matter with it.
type Example struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// Verified says what a look at both ends showed.
type Verified struct {
	// TargetKeys is how many keys the target has, 0 if it does not say that.
	TargetKeys uint64 `json:"target_keys"`
	// Compared keys were taken at random; Differ are not at the target as they were copied; Changed have changed at the source since.
	Compared uint64 `json:"compared"`
	Differ   uint64 `json:"differ"`
	Changed  uint64 `json:"changed"`
	// Missing: the target has fewer keys than were copied that do not expire.
	Missing bool `json:"missing"`
}

// Wrong reports whether the target has not what was copied.
func (v *Verified) Wrong() bool { return v != nil && (v.Differ > 0 || v.Missing) }
