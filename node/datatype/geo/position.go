package geo

import "math"

// Point is a position in degrees.
type Point struct{ Lon, Lat float64 }

// What can be encoded: near the poles nothing can.
const (
	MaxLon = 180
	MaxLat = 85.05112878
)

// maxStep is how often the world is halved in each direction for a score: it has 52 bits then.
const maxStep = 26

// interval is a range of degrees.
type interval struct{ min, max float64 }

var (
	world   = grid{interval{-MaxLon, MaxLon}, interval{-MaxLat, MaxLat}}
	geohash = grid{interval{-180, 180}, interval{-90, 90}} // what the strings of GEOHASH are of
)

// grid is what cells are cells of.
type grid struct{ lon, lat interval }

// cell is a cell of a grid: step halvings in each direction, of which the bits say the halves, of the longitude in the upper one of each two. The zero cell is none.
type cell struct {
	bits uint64
	step uint8
}

// Valid reports whether a position can be encoded.
func (p Point) Valid() bool {
	return p.Lon >= -MaxLon && p.Lon <= MaxLon && p.Lat >= -MaxLat && p.Lat <= MaxLat
}

// Score returns the score of a position that is valid: an integer of 52 bits.
func (p Point) Score() float64 { return float64(world.cell(p, maxStep).bits) }

// At returns the position that a score stands for, whatever it is.
func At(score float64) Point {
	c := world.area(cell{integer(score), maxStep})
	return Point{clamp((c.lon.min+c.lon.max)/2, MaxLon), clamp((c.lat.min+c.lat.max)/2, MaxLat)}
}

func clamp(x, most float64) float64 { return max(-most, min(x, most)) }

// integer returns a score as an unsigned integer, as x86-64 makes one: what is negative is an integer of two's complement, and what is beyond 64 bits has only the highest one.
func integer(f float64) uint64 {
	const half = 1 << 63
	if f < half {
		return uint64(truncated(f))
	}
	return uint64(truncated(f-half)) ^ half
}

// truncated returns a number as an integer, the lowest one for what is none of 64 bits.
func truncated(f float64) int64 {
	if f >= math.MinInt64 && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// Bits returns a score as an integer, as WITHHASH shows it.
func Bits(score float64) int64 { return truncated(score) }

// cell returns the cell of a position of which there are 2^step in each direction.
func (g grid) cell(p Point, step uint8) cell {
	lat := (p.Lat - g.lat.min) / (g.lat.max - g.lat.min)
	lon := (p.Lon - g.lon.min) / (g.lon.max - g.lon.min)
	n := float64(uint64(1) << step)
	return cell{spread(uint32(lat*n)) | spread(uint32(lon*n))<<1, step}
}

// bounds are the bounds of a cell.
type bounds struct{ lon, lat interval }

// area returns the bounds of a cell.
func (g grid) area(c cell) bounds {
	lat, lon := gather(c.bits), gather(c.bits>>1)
	n := float64(uint64(1) << c.step)
	at := func(in interval, i uint32) float64 { return in.min + float64(float64(i)/n*(in.max-in.min)) }
	return bounds{interval{at(g.lon, lon), at(g.lon, lon+1)}, interval{at(g.lat, lat), at(g.lat, lat+1)}}
}

// spread puts the bits of a number into every other bit, and gather takes them out again.
func spread(n uint32) uint64 {
	x := uint64(n)
	for shift := 16; shift > 0; shift /= 2 {
		x = (x | x<<shift) & everyOther[shift]
	}
	return x
}

func gather(x uint64) uint32 {
	x &= everyOther[1]
	for shift := 1; shift <= 16; shift *= 2 {
		x = (x | x>>shift) & everyOther[2*shift]
	}
	return uint32(x)
}

// everyOther has masks of so many bits, every other so many.
var everyOther = [33]uint64{1: 0x5555555555555555, 2: 0x3333333333333333, 4: 0x0f0f0f0f0f0f0f0f, 8: 0x00ff00ff00ff00ff, 16: 0x0000ffff0000ffff, 32: 0x00000000ffffffff}

// moved returns the cell that is so many cells to the east and to the north, each -1, 0 or 1, around the world. A cell at the upper end of the grid has one bit more than
// the others: it goes with a step in its direction only.
func (c cell) moved(east, north int) cell {
	const lonBits, latBits = 0xaaaaaaaaaaaaaaaa, 0x5555555555555555
	shift := 64 - 2*c.step
	if east != 0 {
		c.bits = step(c.bits&lonBits, uint64(lonBits)>>shift, uint64(latBits)>>shift, east) | c.bits&latBits
	}
	if north != 0 {
		c.bits = step(c.bits&latBits, uint64(latBits)>>shift, uint64(lonBits)>>shift, north) | c.bits&lonBits
	}
	return c
}

// step adds one to the bits of own, or takes one off: the bits of other, between them, pass on what is carried.
func step(bits, own, other uint64, by int) uint64 {
	if by > 0 {
		bits += other + 1
	} else {
		bits = (bits | other) - (other + 1)
	}
	return bits & own
}

// Geohash returns the position as a geohash of 11 characters, the last of which is always 0: there are bits for 10.
func (p Point) Geohash() string {
	const alphabet, length = "0123456789bcdefghjkmnpqrstuvwxyz", 11
	bits := geohash.cell(p, maxStep).bits
	text := make([]byte, length)
	for i := range text {
		text[i] = alphabet[0]
		if shift := 2*maxStep - 5*(i+1); shift >= 0 {
			text[i] = alphabet[bits>>shift&31]
		}
	}
	return string(text)
}
