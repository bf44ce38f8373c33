package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

const (
	// maxSlowlog is how many commands SLOWLOG may keep, maxPercentiles how many percentiles INFO shows, and maxTrackingTable how many keys a proxy remembers, which CONFIG SET bounds too.
	maxSlowlog       = 16384
	maxPercentiles   = 64
	maxTrackingTable = 1_000_000
)

// bindLook declares what a proxy notes for people who look, and for clients that keep keys, with Redis' names and units.
func (p *Proxy) bindLook(fs *pflag.FlagSet) {
	fs.IntVar(&p.TrackingTableMaxKeys, "tracking-table-max-keys", p.TrackingTableMaxKeys, "most keys that are remembered for CLIENT TRACKING")
	fs.IntVar(&p.SlowlogLogSlowerThan, "slowlog-log-slower-than", p.SlowlogLogSlowerThan, "SLOWLOG keeps commands that take so many `microseconds`; -1 for none")
	fs.IntVar(&p.SlowlogMaxLen, "slowlog-max-len", p.SlowlogMaxLen, "most commands that SLOWLOG keeps")
	fs.IntVar(&p.LatencyMonitorThreshold, "latency-monitor-threshold", p.LatencyMonitorThreshold, "commands that take so many `milliseconds` are events of LATENCY; 0 for none")
	fs.BoolVar(&p.LatencyTracking, "latency-tracking", p.LatencyTracking, "show in INFO latencystats how long commands took")
	fs.StringVar(&p.LatencyTrackingInfoPercentiles, "latency-tracking-info-percentiles", p.LatencyTrackingInfoPercentiles, "the `percentiles` that it shows, separated by spaces")
}

func (p *Proxy) validateLook(f *Faults) {
	f.within("tracking-table-max-keys", p.TrackingTableMaxKeys, 1, maxTrackingTable)
	f.atLeast("slowlog-log-slower-than", p.SlowlogLogSlowerThan, -1)
	f.within("slowlog-max-len", p.SlowlogMaxLen, 0, maxSlowlog)
	f.atLeast("latency-monitor-threshold", p.LatencyMonitorThreshold, 0)
	if _, err := parsePercentiles(p.LatencyTrackingInfoPercentiles); err != nil {
		f.add("latency-tracking-info-percentiles", "%v", err)
	}
}

// Percentiles returns LatencyTrackingInfoPercentiles as numbers. Those of a configuration that is not valid are none.
func (p *Proxy) Percentiles() []float64 {
	list, _ := parsePercentiles(p.LatencyTrackingInfoPercentiles)
	return list
}

func parsePercentiles(text string) ([]float64, error) {
	list := []float64{}
	for _, field := range strings.Fields(text) {
		percentile, err := strconv.ParseFloat(field, 64)
		switch {
		case err != nil || !(percentile >= 0 && percentile <= 100):
			return nil, fmt.Errorf("%q is no number from 0 to 100", field)
		case len(list) == maxPercentiles:
			return nil, fmt.Errorf("are more than %d", maxPercentiles)
		}
		list = append(list, percentile)
	}
	return list, nil
}
