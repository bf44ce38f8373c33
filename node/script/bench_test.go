package script

import "testing"

// BenchmarkRun is a run of a script of one command.
func BenchmarkRun(b *testing.B) {
	for _, source := range []string{
		`return 1`,
		`return redis.call('GET', KEYS[1])`,
		`local s = 0 for i = 1, 100 do s = s + i end return s`,
		`local t = {} for i = 1, 100 do t[i] = i .. '' end return #t`,
	} {
		b.Run(source, func(b *testing.B) {
			p, err := Compile([]byte(source))
			if err != nil {
				b.Fatal(err)
			}
			reply := []byte("$5\r\nvalue\r\n")
			r := &Run{Keys: [][]byte{[]byte("key")}, Call: func([][]byte, bool) []byte { return reply }}
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = p.Run(dst[:0], r)
			}
		})
	}
}
