package migrate

import (
	"hash/maphash"
	"math"

	"github.com/quolldb/quoll/internal/rdb"
)

// fingerprint is what two items have in common that are the same key with the same value, however each is encoded.
type fingerprint struct {
	expireAt int64
	sum      uint64
	// ok: there is a value, and it can be read.
	ok bool
}

// clockSlack is by how much the times may differ at which a key expires, in milliseconds: without PEXPIRETIME they are computed from how long it has left.
const clockSlack = 1000

func (f fingerprint) same(other fingerprint) bool {
	apart := f.expireAt - other.expireAt
	return f.ok && other.ok && f.sum == other.sum && (f.expireAt == 0) == (other.expireAt == 0) && -clockSlack <= apart && apart <= clockSlack
}

// seed makes fingerprints of this process comparable.
var seed = maphash.MakeSeed()

// print returns the fingerprint: of a list the order counts, of others it does not.
func (i *item) print() fingerprint {
	f := fingerprint{expireAt: i.expireAt}
	v, err := rdb.Open([]byte(i.payload), math.MaxInt)
	if err != nil {
		return f
	}
	p := printer{kind: v.Kind}
	p.hash.SetSeed(seed)
	err = v.Each(p.add)
	f.sum, f.ok = p.sum+uint64(v.Kind), err == nil
	return f
}

// printer adds up the items of a value.
type printer struct {
	kind rdb.Kind
	hash maphash.Hash
	sum  uint64
	// field is one of a hash, whose value comes next.
	field   []byte
	isValue bool
}

func (p *printer) add(value []byte, score float64) error {
	switch p.kind {
	case rdb.String, rdb.List, rdb.Stream: // the hash goes on, and the sum is that of all before
		maphash.WriteComparable(&p.hash, len(value))
		_, _ = p.hash.Write(value)
		p.sum = p.hash.Sum64()
		return nil
	case rdb.Hash:
		if p.isValue = !p.isValue; p.isValue {
			p.field = append(p.field[:0], value...)
			return nil
		}
	}
	p.hash.Reset()
	maphash.WriteComparable(&p.hash, len(p.field))
	_, _ = p.hash.Write(p.field)
	maphash.WriteComparable(&p.hash, score) // -0 is equal to 0
	_, _ = p.hash.Write(value)
	p.sum += p.hash.Sum64()
	return nil
}
