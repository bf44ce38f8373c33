package change

import "errors"

// Why an entry is refused. The document is then as it was. Each says what to do, and
// most are wrapped with names.
var (
	// ErrEntry: an entry that says nothing, or several things, or something that can't be.
	ErrEntry = errors.New("not an entry that this version of Quoll knows: upgrade all nodes")
	// ErrImpossible: a change that makes no sense as such.
	ErrImpossible = errors.New("impossible change")
	// ErrUnknown: nobody has the name.
	ErrUnknown = errors.New("no such member: look at the names in the ring's status")
	// ErrNotWaiting: only a node that has asked to join can.
	ErrNotWaiting = errors.New("it does not wait to join: start it with --join first")
	// ErrNotMember: only a member can leave, or be replaced.
	ErrNotMember = errors.New("it is not a member")
	// ErrStagedAlready: the change contradicts one that is staged.
	ErrStagedAlready = errors.New("another change of it is staged: clear that one first")
	// ErrNameTaken: a node asks to join by the name of a member with another state.
	ErrNameTaken = errors.New("a member of that name exists: choose another name, or have it replaced")
	// ErrAddressTaken: a node asks to join from a member's address, or a member is said to be where another one is reached.
	ErrAddressTaken = errors.New("another member has that address: give each node its own")
	// ErrOtherLife: a member that has lost its state asks for the place of a life that is not the member's present one.
	ErrOtherLife = errors.New("it has come back as yet another process meanwhile: look whether two nodes have the same name, and start the right one again")
	// ErrFull: there are as many members as there can be.
	ErrFull = errors.New("there are as many members as a ring can have: let some leave, or forget some that wait")
	// ErrNothing: the entry changes nothing, because it is so already.
	ErrNothing = errors.New("it is so already")
	// ErrNothingStaged: there is nothing to commit.
	ErrNothingStaged = errors.New("no change is staged: stage one first")
	// ErrAborting: nothing is committed while a plan is turned back.
	ErrAborting = errors.New("a plan is being aborted: wait for its end, or go on with it")
	// ErrNoPlan: there is none under way.
	ErrNoPlan = errors.New("no plan is under way")
	// ErrOtherPlan: the ID is not that of the plan.
	ErrOtherPlan = errors.New("that is another plan: the ring, or what is staged, has changed since; look at the plan again")
	// ErrPaused: no slot begins to move.
	ErrPaused = errors.New("the ring is paused: resume it first")
	// ErrStale: what is reported, or begun, is not so any more.
	ErrStale = errors.New("the slot has changed since")
	// ErrRejoining: a plan that members' return began can't be aborted.
	ErrRejoining = errors.New("members that lost their state take their places again: that can't be aborted, for there is no way back; if one is gone for good plan that it leaves or is replaced")
	// ErrLossAccepted: a loss was accepted, and there is no way back.
	ErrLossAccepted = errors.New("a loss of data was accepted: there is no way back to the ring before")
	// ErrOtherCluster: a loss is accepted by the cluster's name.
	ErrOtherCluster = errors.New("that is not this cluster's name")
	// ErrStillHolds: a member that is said to be gone for good would still hold slots.
	ErrStillHolds = errors.New("it is said to be gone for good, and is still to hold slots: plan that it leaves or is replaced first")
	// ErrNoLoss: no slot has lost its majority.
	ErrNoLoss = errors.New("nothing is lost by it: every slot still has a majority of its replicas")
	// ErrUsersStale: users have changed since the change was made.
	ErrUsersStale = errors.New("users have changed since: make the change again, of what is there now")
	// ErrParametersStale: parameters have changed since the change was made.
	ErrParametersStale = errors.New("the parameters of the cluster have changed since: make the change again, of what is there now")
	// ErrUserSize: a user, or all of them, would be too large.
	ErrUserSize = errors.New("too large")
	// ErrLoss: data can't be moved, and may be lost.
	ErrLoss = errors.New("too few replicas are alive")
)
