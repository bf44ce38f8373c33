package script

import "testing"

// BenchmarkRun is a run of a script of one command.
func BenchmarkRun(b *testing.B) {
	for _, source := range []string{
		`return 1`,
		`return redis.call('GET', KEYS[1])`,
		`redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], ARGV[1])`,
		`local s = 0 for i = 1, 100 do s = s + i end return s`,
		`local t = {} for i = 1, 100 do t[i] = i .. '' end return #t`,
	} {
		b.Run(source, func(b *testing.B) {
			p, err := Compile([]byte(source))
			if err != nil {
				b.Fatal(err)
			}
			got, done := []byte("$5\r\nvalue\r\n"), []byte("+OK\r\n")
			r := &Run{Keys: [][]byte{[]byte("key")}, Args: [][]byte{[]byte("argument")}, Call: func(args [][]byte, _ bool) []byte {
				if len(args) == 2 {
					return got
				}
				return done
			}}
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = p.Run(dst[:0], r)
			}
		})
	}
}
