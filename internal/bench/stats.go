package bench

import (
	"math"
	"slices"
)

// Spread is a measure over trials: the quartiles.
type Spread struct {
	P25    float64 `json:"p25"`
	Median float64 `json:"median"`
	P75    float64 `json:"p75"`
}

// spread returns the quartiles of values, interpolated linearly between neighbours.
func spread(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	return Spread{P25: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), P75: quantile(sorted, 0.75)}
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
