package geo

import "math"

// radians are in a degree.
const radians = math.Pi / 180

// earth is the radius of the earth in meters.
const earth = 6372797.560856

// Distance returns how many meters two positions are apart.
func Distance(a, b Point) float64 {
	v := math.Sin((b.Lon*radians - float64(a.Lon*radians)) / 2)
	if v == 0 {
		return latDistance(a.Lat, b.Lat)
	}
	latA, latB := a.Lat*radians, b.Lat*radians
	u := math.Sin((latB - latA) / 2)
	h := float64(u*u) + float64(math.Cos(latA)*math.Cos(latB)*v*v)
	return 2 * earth * math.Asin(math.Sqrt(h))
}

// latDistance is Distance of positions of one longitude.
func latDistance(a, b float64) float64 {
	return earth * math.Abs(float64(b*radians)-float64(a*radians))
}

// Area is what is searched: a circle around a position, or a box. Its measures are in a unit of so many meters.
type Area struct {
	Center        Point
	IsBox         bool
	Radius        float64
	Width, Height float64
	Unit          float64
}

// Has returns how many meters a position is away from the center, if it is in the area.
func (a *Area) Has(p Point) (distance float64, ok bool) {
	if !a.IsBox {
		distance = Distance(a.Center, p)
		return distance, !(distance > a.Radius*a.Unit)
	}
	if latDistance(p.Lat, a.Center.Lat) > a.Height*a.Unit/2 || Distance(p, Point{a.Center.Lon, p.Lat}) > a.Width*a.Unit/2 {
		return 0, false
	}
	return Distance(a.Center, p), true
}

// box returns the bounds of the area.
func (a *Area) box() bounds {
	height, width := a.Unit*a.Radius, a.Unit*a.Radius
	if a.IsBox {
		height, width = a.Unit*(a.Height/2), a.Unit*(a.Width/2)
	}
	lat := height / earth / radians
	edge := a.Center.Lat + lat // the one that is farther from the equator
	if a.Center.Lat < 0 {
		edge = a.Center.Lat - lat
	}
	lon := width / earth / math.Cos(edge*radians) / radians
	return bounds{interval{a.Center.Lon - lon, a.Center.Lon + lon}, interval{a.Center.Lat - lat, a.Center.Lat + lat}}
}

// Scores are the scores from Min on, without Max.
type Scores struct{ Min, Max float64 }

// Scores returns which scores positions of the area may have. If it is very large they may overlap, as they do in Redis, which then finds members twice.
func (a *Area) Scores() []Scores {
	around := a.cells()
	var all []Scores
	last := 0
	for i, c := range around {
		if c == (cell{}) || last > 0 && c == around[last] {
			continue
		}
		shift := 2 * (maxStep - c.step)
		all = append(all, Scores{float64(c.bits << shift), float64((c.bits + 1) << shift)})
		last = i
	}
	return all
}

// The cell of the center, and those around it.
const (
	center = iota
	north
	south
	east
	west
	northEast
	northWest
	southEast
	southWest
	cells
)

// cells returns the cells that cover the area. Those that are not needed are none.
func (a *Area) cells() (around [cells]cell) {
	box, step := a.box(), a.step()
	around = neighbours(world.cell(a.Center, step))
	if step > 1 && (world.area(around[north]).lat.max < box.lat.max || world.area(around[south]).lat.min > box.lat.min ||
		world.area(around[east]).lon.max < box.lon.max || world.area(around[west]).lon.min > box.lon.min) {
		step--
		around = neighbours(world.cell(a.Center, step))
	}
	if step < 2 {
		return around
	}
	here := world.area(around[center])
	drop := func(list ...int) {
		for _, i := range list {
			around[i] = cell{}
		}
	}
	if here.lat.min < box.lat.min {
		drop(south, southWest, southEast)
	}
	if here.lat.max > box.lat.max {
		drop(north, northEast, northWest)
	}
	if here.lon.min < box.lon.min {
		drop(west, southWest, northWest)
	}
	if here.lon.max > box.lon.max {
		drop(east, southEast, northEast)
	}
	return around
}

func neighbours(c cell) [cells]cell {
	return [cells]cell{
		center: c, north: c.moved(0, 1), south: c.moved(0, -1), east: c.moved(1, 0), west: c.moved(-1, 0),
		northEast: c.moved(1, 1), northWest: c.moved(-1, 1), southEast: c.moved(1, -1), southWest: c.moved(-1, -1),
	}
}

// step returns how often the world is halved for cells that are about as large as the area.
func (a *Area) step() uint8 {
	const around = 20037726.37 // half of the equator, about, as Mercator's projection has it
	meters := a.Radius
	if a.IsBox { // up to its corners
		meters = math.Sqrt(float64(a.Width/2*(a.Width/2)) + float64(a.Height/2*(a.Height/2)))
	}
	meters *= a.Unit
	if meters == 0 {
		return maxStep
	}
	step := 1
	for ; meters < around; step++ {
		meters *= 2
	}
	step -= 2
	if lat := math.Abs(a.Center.Lat); lat > 66 { // meridians are nearer to each other
		step--
		if lat > 80 {
			step--
		}
	}
	return uint8(min(max(step, 1), maxStep))
}
