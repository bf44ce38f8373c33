package queue

// Discipline is how elements are handed out.
type Discipline int

// The disciplines; see the package's comment.
const (
	Popped Discipline = iota
	Moved
	Grouped
)

// Kind is what an operation does.
type Kind int

// The kinds of operations. Those of Moved are Push, Take, Done, Return and Left, those of Grouped have Claim for Return, and those of Popped neither these nor Done.
const (
	Push   Kind = iota // puts an element at the end of a queue
	Take               // hands out new elements from the front
	Done               // says that an element has been dealt with
	Return             // brings an element from the list of a worker back to the front of the queue
	Claim              // hands out what was handed out before
	Left               // looks at the end what is there, in the queue or in the list of a worker, or pending
)

// Outcome is what a client knows of an operation.
type Outcome int

// The outcomes.
const (
	Acknowledged Outcome = iota
	Refused              // it was not done
	Unknown              // it was done, or not, or will be
)

// Op is an operation.
type Op struct {
	Kind    Kind
	Outcome Outcome
	// Queues are those that a Take may have taken from, the one that an answer named first; others have one. Worker is whose list it was about, or who took it.
	Queues []string
	Worker string
	// Elements are those pushed, done, or found in the answer, in that order.
	Elements []string
	// Most is how many elements it may take, 0 for one.
	Most int
	// None says that Done found nothing to remove.
	None bool
	// Begin and End are when.
	Begin, End int64
}

// before reports whether an operation is over before another one begins. What is unknown may be done at any later time.
func (op *Op) before(other *Op) bool { return op.Outcome == Acknowledged && op.End < other.Begin }

// Fault is what is wrong with an element.
type Fault string

// The faults.
const (
	Lost     Fault = "lost"     // it was acknowledged, or seen, and is nowhere, and was not dealt with
	Twice    Fault = "twice"    // it was handed out more often than it may be, or is still there
	Invented Fault = "invented" // nobody pushed it, or its push was refused, or was of another queue
	Disorder Fault = "disorder" // it was handed out behind one that is behind it
	Unseen   Fault = "not seen" // it was there all the time while a Take was answered that there is nothing
)

// Violation is a fault of an element.
type Violation struct {
	Fault   Fault
	Queue   string
	Element string
	// Text says what was seen.
	Text string
}

// Result is what Check found.
type Result struct {
	Violations []Violation
	// Pushed and Taken elements were acknowledged. Again is how often one was handed out once more.
	Pushed, Taken, Again int
	// Unknown operations there were, of all kinds; Excused are the elements that one of them explains.
	Unknown, Excused int
}

// Has reports whether there is such a fault.
func (r Result) Has(fault Fault) bool {
	for _, v := range r.Violations {
		if v.Fault == fault {
			return true
		}
	}
	return false
}
