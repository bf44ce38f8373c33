package session

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
)

// settings are those parameters of CONFIG that are neither the front's, nor of what they limit.
type settings struct {
	// setting is held by whoever changes parameters.
	setting sync.Mutex
	// changed are those that CONFIG SET has set since the proxy began, by name. It is guarded by setting.
	changed map[string]bool
	// outputLimit is Config.OutputLimit as it is now.
	outputLimit atomic.Int64
	untracked   atomic.Bool // INFO latencystats is empty
	percentiles atomic.Pointer[[]float64]
	events      atomic.Uint32 // a notify.Class
}

func (c *settings) init(outputLimit int, noted *Noted) {
	c.changed = map[string]bool{}
	c.outputLimit.Store(int64(outputLimit))
	c.untracked.Store(noted.Untracked)
	c.percentiles.Store(&noted.Percentiles)
}

// parameter is one of Redis' configuration parameters that mean something here.
type parameter struct {
	name string
	get  func(s *Session) string
	// set returns what changes the parameter to a value, nil if it cannot be changed: why says that.
	set func(s *Session, value string) (func(), error)
	why string
}

// change returns what changes the parameter. One that cannot be changed may be set to what it is.
func (p *parameter) change(s *Session, value string) (func(), error) {
	if p.set != nil {
		return p.set(s, value)
	}
	if value == p.get(s) {
		return func() {}, nil
	}
	return nil, fmt.Errorf("%s", p.why)
}

// parameters are sorted by name.
var parameters = []parameter{
	{"acllog-max-len", func(s *Session) string { return strconv.Itoa(s.service.users.logLength()) }, number(0, maxACLLog, func(s *Session, n int64) {
		s.service.users.setLogLength(int(n))
	}), ""},
	fixed("appendonly", "no", "a proxy keeps no data, and nodes keep theirs as they were started"),
	{"client-output-buffer-limit", outputLimits, setOutputLimits, ""},
	fixed("cluster-enabled", "no", ""),
	fixed("databases", strconv.Itoa(database.Count), ""),
	{"latency-monitor-threshold", func(s *Session) string { return decimal(s.service.look.latency.limit()) }, number(0, math.MaxInt64, func(s *Session, n int64) {
		s.service.look.latency.setLimit(n)
	}), ""},
	{"latency-tracking", func(s *Session) string { return yesOrNo(!s.service.config.untracked.Load()) }, setTracking, ""},
	{"latency-tracking-info-percentiles", percentiles, setPercentiles, ""},
	{"maxclients", func(s *Session) string { return strconv.Itoa(s.conn.Server().Config().MaxClients) }, setMaxClients, ""},
	ofNodes(eviction.LfuDecayTime, func(m admin.Memory) string { return strconv.Itoa(m.DecayTime) }),
	ofNodes(eviction.LfuLogFactor, func(m admin.Memory) string { return strconv.Itoa(m.LogFactor) }),
	ofNodes(eviction.MaxMemory, func(m admin.Memory) string { return decimal(m.Limit) }),
	{"maxmemory-clients", func(s *Session) string { return decimal(s.conn.Server().Config().ClientMemory) }, setClientMemory, ""},
	ofNodes(eviction.MaxMemoryPolicy, func(m admin.Memory) string { return m.Policy }),
	ofNodes(eviction.MaxMemorySamples, func(m admin.Memory) string { return strconv.Itoa(m.Samples) }),
	{"notify-keyspace-events", func(s *Session) string { return s.service.events().String() }, setEvents, ""},
	{"proto-max-bulk-len", maxBulk, nil, "it is that of the whole cluster: start proxies and nodes with --max-bulk"},
	fixed("save", "", "a proxy keeps no data, and nodes keep theirs as they were started"),
	{"slowlog-log-slower-than", func(s *Session) string { slower, _ := s.service.look.slowlog.limits(); return decimal(slower) }, number(-1, math.MaxInt64, func(s *Session, n int64) {
		_, most := s.service.look.slowlog.limits()
		s.service.look.slowlog.limit(n, most)
	}), ""},
	{"slowlog-max-len", func(s *Session) string { _, most := s.service.look.slowlog.limits(); return decimal(most) }, number(0, maxSlowlog, func(s *Session, n int64) {
		slower, _ := s.service.look.slowlog.limits()
		s.service.look.slowlog.limit(slower, n)
	}), ""},
	{"timeout", func(s *Session) string { return strconv.Itoa(int(s.conn.Server().Config().IdleTimeout.Seconds())) }, number(0, math.MaxInt32, func(s *Session, n int64) {
		s.conn.Server().Change(func(c *front.Config) { c.IdleTimeout = time.Duration(n) * time.Second })
	}), ""},
	{"tracking-table-max-keys", func(s *Session) string { return strconv.Itoa(s.service.tracked.limits()) }, number(1, maxTracked, func(s *Session, n int64) {
		s.service.tracked.limit(s, int(n))
	}), ""},
}

// fixed is a parameter that is not changed.
func fixed(name, value, why string) parameter {
	return parameter{name, func(*Session) string { return value }, nil, why}
}

// number is a parameter that is a whole number between two others.
func number(least, most int64, set func(*Session, int64)) func(*Session, string) (func(), error) {
	return func(s *Session, value string) (func(), error) {
		n, err := parseNumber(value, least, most)
		if err != nil {
			return nil, err
		}
		return func() { set(s, n) }, nil
	}
}

// parseNumber reads a whole number between two others.
func parseNumber(value string, least, most int64) (int64, error) {
	n, ok := resp.ParseInt([]byte(value))
	switch {
	case !ok:
		return 0, fmt.Errorf("argument couldn't be parsed into an integer")
	case n < least || n > most:
		return 0, fmt.Errorf("argument must be between %d and %d inclusive", least, most)
	}
	return n, nil
}

func setTracking(s *Session, value string) (func(), error) {
	on := strings.EqualFold(value, "yes")
	if !on && !strings.EqualFold(value, "no") {
		return nil, fmt.Errorf("argument must be 'yes' or 'no'")
	}
	return func() { s.service.config.untracked.Store(!on) }, nil
}

func percentiles(s *Session) string {
	var list []string
	for _, p := range *s.service.config.percentiles.Load() {
		list = append(list, strconv.FormatFloat(p, 'f', -1, 64))
	}
	return strings.Join(list, " ")
}

// mostPercentiles bounds how long INFO gets.
const mostPercentiles = 64

func setPercentiles(s *Session, value string) (func(), error) {
	list := []float64{}
	for _, field := range strings.Fields(value) {
		p, err := strconv.ParseFloat(field, 64)
		switch {
		case err != nil, len(list) == mostPercentiles:
			return nil, fmt.Errorf("Invalid latency-tracking-info-percentiles parameters")
		case !(p >= 0 && p <= 100):
			return nil, fmt.Errorf("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		list = append(list, p)
	}
	return func() { s.service.config.percentiles.Store(&list) }, nil
}

func setMaxClients(s *Session, value string) (func(), error) {
	change, err := number(1, math.MaxUint32, func(s *Session, n int64) {
		s.conn.Server().Change(func(c *front.Config) { c.MaxClients = int(n) })
	})(s, value)
	if err != nil {
		return nil, err
	}
	if n, _ := resp.ParseInt([]byte(value)); n > mostClients() {
		return nil, fmt.Errorf("The operating system is not able to handle the specified number of clients, try with %d", mostClients())
	}
	return change, nil
}

// leastClientMemory is the least that all clients together must be allowed, or none could send a large value.
const leastClientMemory = 1 << 20

func setClientMemory(s *Session, value string) (func(), error) {
	if percent, err := strconv.ParseInt(strings.TrimSuffix(value, "%"), 10, 64); err == nil && strings.HasSuffix(value, "%") && percent >= 0 {
		if percent > 100 {
			return nil, fmt.Errorf("percentage argument must be less or equal to 100")
		}
		return nil, fmt.Errorf("a proxy has no maxmemory of which that would be a part")
	}
	n, ok := parseMemory(value)
	switch {
	case !ok:
		return nil, fmt.Errorf("argument must be a memory or percent value")
	case n < leastClientMemory, n > s.conn.Server().Started().ClientMemory:
		return nil, fmt.Errorf("argument must be between %d and %d inclusive: a proxy is started with what it may take", leastClientMemory, s.conn.Server().Started().ClientMemory)
	}
	return func() { s.conn.Server().Change(func(c *front.Config) { c.ClientMemory = n }) }, nil
}

func maxBulk(s *Session) string {
	if bulk := s.service.cfg.Limits.MaxBulk; bulk != 0 {
		return strconv.Itoa(bulk)
	}
	return strconv.Itoa(resp.DefaultMaxBulk)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
