package register

// Moment is what a step knows of the time and place at which it is made.
type Moment struct {
	// Now is the wall clock in Unix milliseconds; it decides expiry (R12).
	Now int64
	// Mono is a monotonic clock in milliseconds, for time-outs.
	Mono int64
	// Full: the store has no room, writes of the own replica would fail with ErrNoRoom.
	Full bool
	// Instant: what is staged is durable at once, as far as it will ever be.
	Instant bool
}

// Happening says what an Input is.
type Happening uint8

// What may happen to a home.
const (
	// Tick: time has passed. What is unanswered is sent again, what took too long is given up, and the term is acquired again after a pause. It is to
	// come every few ten milliseconds while the home is Active.
	Tick Happening = iota
	// Asked: somebody has a request.
	Asked
	// Replied: a replica has answered. What is of another term or epoch is ignored. A StaleEpoch reply is the caller's business, who
	// learns the newer configuration.
	Replied
	// Learned: there is a newer configuration. A term does not survive an epoch (R15).
	Learned
	// Persisted: Ready.Write has been dealt with. It is the next input after any that leaves something there, for the same home.
	Persisted
	// Evaluated: one of Ready.Evaluations has been run.
	Evaluated
)

// Input is one thing that happens to a home. The same inputs, with the same answers to what it asks of Env and the same store, have
// the same outputs.
type Input struct {
	Moment
	Happening Happening

	// Request is executed, now or later, or turned away to the member that leads the slot (Asked). The home owns it until it is answered.
	Request *Request
	// Except is a member to which the request is not turned away, for it has turned it away, or the proxy cannot reach it; 0 excepts
	// nobody, AllOthers everybody.
	Except uint16
	// Reply is borrowed for the step (Replied).
	Reply *Message
	// Config is what was learned (Learned).
	Config *Config
	// Evaluation is what was run (Evaluated).
	Evaluation *Evaluation
	// Err is why Ready.Write was not persisted, nil if it was (Persisted): ErrNoRoom, or what ends the home.
	Err error
}

// Step lets something happen to the home, and adds to out what it brings about. It only reads: if there is something in out.Write,
// that is what the own replica wants to have persisted, and whether it was is the home's next input.
func (h *Home) Step(in *Input, out *Ready) {
	h.in, h.out = &in.Moment, out
	switch {
	case in.Happening == Asked, in.Happening == Replied, in.Happening == Evaluated, in.Happening == Persisted && in.Err == nil: // these say what has changed
	default:
		h.batches.lookAtAll()
	}
	switch in.Happening {
	case Tick:
		h.tick()
	case Asked:
		h.handleClient(in.Request, in.Except)
	case Replied:
		h.handleReply(in.Reply)
	case Learned:
		h.learn(in.Config)
	case Persisted:
		h.persisted(in.Err)
	case Evaluated:
		h.evaluated(in.Evaluation)
	}
	for h.serve(); !out.Write.Wanted() && h.advanceBatches(); h.serve() {
	}
	h.in, h.out = nil, nil
}
