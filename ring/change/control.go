package change

import "fmt"

// Abort turns a plan around: its goal is from now on the ring before it, or, if Off is
// set, the ring after it again. The plan is over when every slot is there. A member that
// is gone for good may be why it has to be turned around once more.
type Abort struct {
	Plan string `json:"plan"`
	Off  bool   `json:"off,omitempty"`
}

func (a *Abort) apply(e *edit) error {
	switch {
	case e.Plan == nil:
		return ErrNoPlan
	case a.Plan != e.Plan.ID:
		return fmt.Errorf("%s: %w", a.Plan, ErrOtherPlan)
	case len(e.Plan.Changes) == 0:
		return ErrRejoining
	case e.Plan.Aborting != a.Off:
		return fmt.Errorf("plan %s: %w", a.Plan, ErrNothing)
	case !a.Off && e.Plan.LossAccepted:
		return ErrLossAccepted
	}
	e.plan().Aborting = !a.Off
	e.giveUpOthers()
	if a.Off {
		e.note("goes on with plan %s", a.Plan)
	} else {
		e.note("aborts plan %s", a.Plan)
	}
	return nil
}

// Pause lets no slot begin to move, or, if Off is set, lets them again. Slots that
// are joint go on.
type Pause struct {
	Off bool `json:"off,omitempty"`
}

func (p *Pause) apply(e *edit) error {
	if e.Paused != p.Off {
		return ErrNothing
	}
	if e.Paused = !p.Off; e.Paused {
		e.note("pauses the ring")
	} else {
		e.note("resumes the ring")
	}
	return nil
}

// DefaultRate is how many bytes a second each node copies where nobody has set a rate.
const DefaultRate = 50 << 20

// Rate sets how many bytes a second each node copies, 0 for DefaultRate.
type Rate struct {
	Bytes int64 `json:"bytes"`
}

func (r *Rate) apply(e *edit) error {
	switch {
	case r.Bytes < 0:
		return fmt.Errorf("%w: a rate of %d", ErrImpossible, r.Bytes)
	case r.Bytes == e.Rate:
		return ErrNothing
	}
	e.Rate = r.Bytes
	e.note("sets the rate to %d bytes a second", r.Bytes)
	return nil
}
