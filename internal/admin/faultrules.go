//go:build faults

package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/wire"
)

// faultPlan is the body of PUT and of the answers.
type faultPlan struct {
	Seed uint64 `json:"seed"`
	// Clock is by how much the wall clock is ahead.
	Clock string `json:"clock,omitempty"`
	// Rules is required: an empty list heals everything.
	Rules *[]faultRule `json:"rules"`
}

// faultRule is a wire.FaultRule as JSON.
type faultRule struct {
	Peer      string  `json:"peer"`
	Role      string  `json:"role,omitempty"`
	Cut       bool    `json:"cut,omitempty"`
	Delay     string  `json:"delay,omitempty"`
	Jitter    string  `json:"jitter,omitempty"`
	Drop      float64 `json:"drop,omitempty"`
	Duplicate float64 `json:"duplicate,omitempty"`
	Reorder   float64 `json:"reorder,omitempty"`
	// Counters is in answers only.
	Counters *faultCounters `json:"counters,omitempty"`
}

// faultCounters are wire.FaultCounters as JSON.
type faultCounters struct {
	Passed     uint64 `json:"passed"`
	Dropped    uint64 `json:"dropped"`
	Duplicated uint64 `json:"duplicated"`
	Reordered  uint64 `json:"reordered"`
	Delayed    uint64 `json:"delayed"`
	HeldBytes  int64  `json:"held_bytes"`
}

const (
	maxFaultPlan  = 1 << 20     // bytes of a body
	maxFaultDelay = time.Minute // for which frames are held
	maxClockError = 10_000 * time.Hour
)

// faultSet is a plan that was found right.
type faultSet struct {
	seed  uint64
	clock time.Duration
	rules []wire.FaultRule
}

// readFaults reads and checks the body of a PUT. An error names the field.
func readFaults(body io.Reader) (set faultSet, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	var plan faultPlan
	if err := decoder.Decode(&plan); err != nil {
		return set, explainJSON(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return set, fmt.Errorf("%w: there is something behind it", errNoFaults)
	}
	if plan.Rules == nil {
		return set, errors.New("rules: is required; [] heals everything")
	}
	if set.clock, err = parseClock(plan.Clock); err != nil {
		return set, err
	}
	for i := range *plan.Rules {
		rule, err := (*plan.Rules)[i].parse()
		if err != nil {
			return set, fmt.Errorf("rules[%d]%w", i, err)
		}
		set.rules = append(set.rules, rule)
	}
	set.seed = plan.Seed
	return set, nil
}

var errNoFaults = errors.New("the body is not a list of faults in JSON")

// explainJSON names the field that a decoder did not like, if there is one.
func explainJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case isUnknown:
		return fmt.Errorf("%s: there is no such field", strings.Trim(unknown, `"`))
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s: %s is not of type %s", wrong.Field, wrong.Value, wrong.Type)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it is empty", errNoFaults)
	}
	return fmt.Errorf("%w: %w", errNoFaults, err)
}

// parse checks a rule. An error begins with the field, as it follows the rule.
func (f *faultRule) parse() (wire.FaultRule, error) {
	rule := wire.FaultRule{
		Peer: f.Peer, Role: wire.Role(f.Role), Cut: f.Cut, Drop: f.Drop, Duplicate: f.Duplicate, Reorder: f.Reorder,
	}
	var err error
	if rule.Delay, err = parseDelay("delay", f.Delay); err != nil {
		return rule, err
	}
	if rule.Jitter, err = parseDelay("jitter", f.Jitter); err != nil {
		return rule, err
	}
	return rule, cmp.Or(
		f.checkPeer(),
		checkProbability("drop", f.Drop),
		checkProbability("duplicate", f.Duplicate),
		checkProbability("reorder", f.Reorder),
		checkEffect(rule),
	)
}

func (f *faultRule) checkPeer() error {
	switch {
	case f.Peer == "":
		return errors.New(`.peer: is required: a name, or "*" for any`)
	case f.Role != "" && f.Role != string(wire.RoleNode) && f.Role != string(wire.RoleProxy):
		return fmt.Errorf(`.role: %q is neither "node" nor "proxy" nor "" for any`, f.Role)
	case f.Counters != nil:
		return errors.New(".counters: are counted here and cannot be set")
	}
	return nil
}

func checkProbability(field string, p float64) error {
	if p < 0 || p > 1 {
		return fmt.Errorf(".%s: %v is not a probability from 0 to 1", field, p)
	}
	return nil
}

func checkEffect(rule wire.FaultRule) error {
	rule.Peer, rule.Role = "", ""
	if rule == (wire.FaultRule{}) {
		return errors.New(": nothing is to be done: give cut, delay, jitter, drop, duplicate or reorder")
	}
	return nil
}

func parseDelay(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf(".%s: %q is not a time such as 20ms", field, text)
	case d < 0 || d > maxFaultDelay:
		return 0, fmt.Errorf(".%s: %s is not from 0s to %s", field, text, maxFaultDelay)
	}
	return d, nil
}

func parseClock(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("clock: %q is not a time such as 1h or -90s", text)
	case d.Abs() > maxClockError:
		return 0, fmt.Errorf("clock: %s is more than %s", text, maxClockError)
	}
	return d, nil
}

func formatDelay(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
