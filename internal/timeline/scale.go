package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// scale maps values to places of a picture.
type scale struct {
	low, high float64 // values
	from, to  float64 // places
	log       bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	return s.from + min(1, max(0, (v-low)/(high-low)))*(s.to-s.from)
}

// evenTicks returns round values from 0 to at least most, about n of them.
func evenTicks(most float64, n int) []float64 {
	rough := max(most, 1e-9) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if step*factor >= rough {
			step *= factor
			break
		}
	}
	var ticks []float64
	for i := 0; ; i++ {
		ticks = append(ticks, float64(i)*step)
		if float64(i)*step >= most {
			return ticks
		}
	}
}

// timeSteps are the distances between the marks of the time axis.
var timeSteps = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// timeTicks returns at most about twelve round times up to end.
func timeTicks(end time.Duration) []time.Duration {
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if end/s <= 12 {
			step = s
			break
		}
	}
	step = max(step, end/12)
	var ticks []time.Duration
	for at := time.Duration(0); at <= end; at += step {
		ticks = append(ticks, at)
	}
	return ticks
}

// decades returns the powers of ten in seconds that enclose the latencies of columns: at least two of them.
func decades(columns []column) []float64 {
	least, most := math.Inf(1), 0.0
	for _, c := range columns {
		if c.p99 > 0 {
			least, most = min(least, max(c.p50.Seconds(), 1e-6)), max(most, c.p99.Seconds())
		}
	}
	if most == 0 {
		least, most = 1e-3, 1e-2
	}
	low := int(math.Floor(math.Log10(least) + 1e-9))
	high := max(low+1, int(math.Ceil(math.Log10(most)-1e-9)))
	var ticks []float64
	for power := low; power <= high; power++ {
		ticks = append(ticks, math.Pow10(power))
	}
	return ticks
}

// count writes a number with commas between the thousands.
func count(n uint64) string {
	if n < 1000 {
		return strconv.FormatUint(n, 10)
	}
	return count(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// rateLabel writes operations per second.
func rateLabel(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", math.Round(v/1e4)/100)
	case v >= 1e4:
		return fmt.Sprintf("%gk", math.Round(v/10)/100)
	case v >= 10:
		return count(uint64(math.Round(v)))
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'g', -1, 64)
}

// latencyLabel writes a latency in the unit that people would.
func latencyLabel(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.3g µs", d.Seconds()*1e6)
}

// timeLabel writes a place of the time axis: 0, 1.5s, 1m, 1m30s, 2h.
func timeLabel(d time.Duration) string {
	if d < 50*time.Millisecond {
		return "0"
	}
	text := d.Round(100 * time.Millisecond).String()
	text = strings.Replace(text, "m0s", "m", 1)
	return strings.Replace(text, "h0m", "h", 1)
}
