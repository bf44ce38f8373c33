//go:build race

package arena

// Spoils says that this is a build for tests, in which what is given back, or lent to another one next, is spoilt and not used again.
const Spoils = true

// Spoil makes bytes rubbish, so that whoever keeps what he has borrowed finds that there.
func Spoil(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}
