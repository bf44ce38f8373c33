package world

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan is what there is of a world. What is zero follows from the seed. What a plan leaves out changes nothing about the rest: each fault and each
// client has random numbers of its own. So a world that fails can be made smaller, piece by piece.
type Plan struct {
	Nodes, Proxies int
	// Clients are the numbers of the clients that take part.
	Clients Set
	// For is for how long clients work while things happen to them, usualLength if it is 0.
	For time.Duration
	// Faults are the numbers of those that happen, in the order in which the schedule has them, and Bouts those at which clients meet.
	Faults, Bouts Set
	// Turns is how many commands, or groups of them, a client sends at most in a bout.
	Turns int
}

const (
	usualLength = 20 * time.Second
	// faultsPerSecond is more than any schedule has.
	faultsPerSecond = 10
)

// complete adds to a configuration what follows from the seed.
func (cfg Config) complete() Config {
	shape := randomOf(cfg.Seed, "shape")
	engine, nodes, clients := shape.IntN(6), 3+2*shape.IntN(2), 3+shape.IntN(4)
	if fit := enginesFor(cfg.Schedule); !slices.Contains(fit, cfg.Engine) {
		cfg.Engine = fit[engine%len(fit)]
	}
	cfg.Gossip = cfg.Gossip || cfg.Seed%4 == 1
	if cfg.Nodes == 0 {
		cfg.Nodes = nodes
	}
	if cfg.Proxies == 0 {
		cfg.Proxies = 2
	}
	if cfg.Clients == nil {
		cfg.Clients = upTo(clients)
	}
	if cfg.For == 0 {
		cfg.For = usualLength
	}
	if cfg.Turns == 0 {
		cfg.Turns = mostTurns
	}
	return cfg
}

// whole is the plan in which everything has its number, so that any part can be left out.
func (cfg Config) whole() Plan {
	p := cfg.complete().Plan
	if p.Faults == nil {
		p.Faults = upTo(int(p.For.Seconds()*faultsPerSecond) + 1)
	}
	if p.Bouts == nil {
		p.Bouts = upTo(int(p.For/cfg.tempo()) + 1)
	}
	return p
}

// String is the plan as ParsePlan reads it.
func (p Plan) String() string {
	var parts []string
	add := func(name string, given bool, value any) {
		if given {
			parts = append(parts, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("nodes", p.Nodes > 0, p.Nodes)
	add("proxies", p.Proxies > 0, p.Proxies)
	add("clients", p.Clients != nil, p.Clients)
	add("for", p.For > 0, p.For)
	add("faults", p.Faults != nil, p.Faults)
	add("bouts", p.Bouts != nil, p.Bouts)
	add("turns", p.Turns > 0, p.Turns)
	return strings.Join(parts, " ")
}

// ParsePlan reads a plan.
func ParsePlan(text string) (p Plan, err error) {
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "nodes":
			p.Nodes, err = strconv.Atoi(value)
		case "proxies":
			p.Proxies, err = strconv.Atoi(value)
		case "clients":
			if p.Clients, err = parseSet(value); err == nil && len(p.Clients) == 0 {
				err = errors.New("somebody has to look at what is left")
			}
		case "for":
			p.For, err = time.ParseDuration(value)
		case "faults":
			p.Faults, err = parseSet(value)
		case "bouts":
			p.Bouts, err = parseSet(value)
		case "turns":
			p.Turns, err = strconv.Atoi(value)
		default:
			err = errors.New("a plan has nodes, proxies, clients, for, faults, bouts and turns")
		}
		if err != nil {
			return Plan{}, fmt.Errorf("plan: %q: %w", part, err)
		}
	}
	return p, nil
}

// Set is a set of numbers from 1 on, in their order. Nil is the set of all.
type Set []int

func upTo(n int) Set {
	s := make(Set, n)
	for i := range s {
		s[i] = i + 1
	}
	return s
}

func (s Set) has(n int) bool { return s == nil || slices.Contains(s, n) }

// String is the set as in 1-3,7.
func (s Set) String() string {
	if len(s) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(s); {
		from := i
		for i++; i < len(s) && s[i] == s[i-1]+1; i++ {
		}
		text := strconv.Itoa(s[from])
		if i > from+1 {
			text += "-" + strconv.Itoa(s[i-1])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

// mostNumbers bounds what a range is written out to.
const mostNumbers = 1 << 20

func parseSet(text string) (Set, error) {
	s := Set{}
	if text == "none" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 1 || last < first || last > mostNumbers {
			return nil, fmt.Errorf("%q is no set as 1-3,7 is", text)
		}
		for n := first; n <= last; n++ {
			s = append(s, n)
		}
	}
	slices.Sort(s)
	return slices.Compact(s), nil
}
