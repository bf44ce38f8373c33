package geo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func points(lon, lat float64) *rapid.Generator[Point] {
	return rapid.Custom(func(t *rapid.T) Point {
		return Point{rapid.Float64Range(-lon, lon).Draw(t, "lon"), rapid.Float64Range(-lat, lat).Draw(t, "lat")}
	})
}

// TestKnownPlaces has what Redis' documentation says of two towns on Sicily.
func TestKnownPlaces(t *testing.T) {
	palermo, catania := Point{13.361389, 38.115556}, Point{15.087269, 37.502669}
	require.InDelta(t, 3479099956230698, palermo.Score(), 0)
	require.Equal(t, "sqc8b49rny0", At(palermo.Score()).Geohash())
	require.Equal(t, "sqdtr74hyu0", At(catania.Score()).Geohash())
	require.InDelta(t, 166274.1516, Distance(At(palermo.Score()), At(catania.Score())), 5e-5)
}

// TestAScoreIsAPosition: it comes back as near as 52 bits are, and as the same score.
func TestAScoreIsAPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := points(MaxLon, MaxLat).Draw(t, "point")
		again := At(p.Score())
		require.True(t, again.Valid())
		require.InDelta(t, p.Lon, again.Lon, 360.0/(1<<26))
		step := 2 * MaxLat / (1 << 26)
		if p.Lon == MaxLon { // its bit is the 54th, for which a float64 gives up the lowest, one of the latitude
			step *= 2
		}
		require.InDelta(t, p.Lat, again.Lat, step)
		if p.Lon < MaxLon && p.Lat < MaxLat { // at the upper ends there is one bit more
			require.InDelta(t, p.Score(), again.Score(), 0)
		}
	})
}

// TestTheDateLineIsLessExact as in Redis, which replies these digits.
func TestTheDateLineIsLessExact(t *testing.T) {
	p := Point{180, -1.625}
	require.InDelta(t, 9382218704438548, p.Score(), 0)
	require.Equal(t, Point{180, -1.62500339844930153}, At(p.Score()))
}

// TestAnyScoreIsSomewhere: sorted sets have any scores.
func TestAnyScoreIsSomewhere(t *testing.T) {
	for _, score := range []float64{math.Inf(1), math.Inf(-1), -1, -1e300, 1e300, 1 << 63, 1 << 52, math.MaxInt64, 0.5, 5e-324} {
		require.True(t, At(score).Valid(), score)
	}
}

// TestWhatIsInACircleIsInItsScores: away from the poles and the date line no position in a circle is missed, and what is not in it is not said to be.
func TestWhatIsInACircleIsInItsScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Area{Center: points(100, 60).Draw(t, "center"), Radius: rapid.Float64Range(1, 1000).Draw(t, "radius"), Unit: rapid.SampledFrom([]float64{1, 1000}).Draw(t, "unit")}
		reach := a.Radius * a.Unit / 111_000
		p := At(Point{a.Center.Lon + rapid.Float64Range(-reach, reach).Draw(t, "east"), a.Center.Lat + rapid.Float64Range(-reach, reach).Draw(t, "north")}.Score())
		distance, ok := a.Has(p)
		require.Equal(t, Distance(a.Center, p) <= a.Radius*a.Unit, ok)
		if !ok {
			return
		}
		require.LessOrEqual(t, distance, a.Radius*a.Unit)
		found, score := false, p.Score()
		for _, s := range a.Scores() {
			found = found || s.Min <= score && score < s.Max
		}
		require.True(t, found)
	})
}

// TestABoxIsAsWideAndHighAsItIs.
func TestABoxIsAsWideAndHighAsItIs(t *testing.T) {
	a := Area{IsBox: true, Width: 400, Height: 200, Unit: 1000}
	for _, c := range []struct {
		p  Point
		ok bool
	}{{Point{1.7, 0.8}, true}, {Point{-1.7, -0.8}, true}, {Point{1.9, 0}, false}, {Point{0, 0.95}, false}} {
		_, ok := a.Has(c.p)
		require.Equal(t, c.ok, ok, c.p)
	}
}
