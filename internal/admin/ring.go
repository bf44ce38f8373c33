package admin

import (
	"context"
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// What operators do with the ring. Nothing is done with dry-run=true; by= says who does it, for the history.
//
//	GET  /v1/ring                                    RingStatus: the members, and how far a plan is
//	GET  /v1/ring/history                            []RingEvent
//	GET  /v1/ring/plan                               RingPlan: what the staged changes mean
//	POST /v1/ring/plan?change=join+n4&change=...     stages changes; RingPlan
//	POST /v1/ring/clear?name=NAME                    clears what is staged for a member, or all of it; RingPlan
//	POST /v1/ring/commit?id=ID&accept-loss=CLUSTER   makes the staged changes the plan under way; RingStatus
//	POST /v1/ring/abort?id=ID&undo=true              turns the plan under way around, or around again; RingStatus
//	POST /v1/ring/pause, /v1/ring/resume             RingStatus
//	POST /v1/ring/rate?bytes=N                       what each node copies a second, 0 for the default; RingStatus
//	GET  /v1/ring/keyspace, POST too                 where the keys of each database are (keyspace.go)
//	POST /v1/ring/forget?name=NAME                   lets a node go that waits to join; RingStatus
//	POST /v1/ring/recover?accept-loss=CLUSTER        founds the group again that decides on the ring; RingRecovery
//
// What is refused is answered with 409 and the reason, and has changed nothing.

// RingChanger is a Backend of a process that takes part in the ring.
type RingChanger interface {
	// RingView returns what this process knows of the ring, or why it knows nothing yet. It may ask others.
	RingView(ctx context.Context) (RingView, error)
	// ProposeRing has the ring changed. Once it has returned nil RingView shows the change. An entry that is refused gives an
	// error made by Conflict; after any other the change may happen yet.
	ProposeRing(ctx context.Context, entry change.Entry) error
}

// RingView is what a process knows of the ring.
type RingView struct {
	Document change.Document
	// Self is the name of the node that answers.
	Self string
	// Alive says who is alive, as this node sees it.
	Alive func(id uint16) bool
	// SlotBytes is about how much a slot holds.
	SlotBytes func(slot uint16) int64
}

// RingStatus is the ring as it is decided, and how far the plan under way is.
type RingStatus struct {
	Cluster string `json:"cluster"`
	// Version counts the changes of the ring.
	Version  uint64 `json:"version"`
	Replicas int    `json:"replicas"`
	// Seen names the node that answered.
	Seen    string       `json:"seen"`
	Members []RingMember `json:"members"`
	// Staged are the changes that wait to be committed.
	Staged []string `json:"staged,omitempty"`
	// Plan is null if no plan is under way.
	Plan *RingProgress `json:"plan,omitempty"`
	// Paused: no slot begins to move.
	Paused bool `json:"paused,omitempty"`
	// Rate is how many bytes a second each node copies.
	Rate   int64 `json:"rate"`
	DryRun bool  `json:"dry_run,omitempty"`
}

// RingMember is a member, or a node that waits to be one.
type RingMember struct {
	Name string `json:"name"`
	ID   uint16 `json:"id"`
	Peer string `json:"peer"`
	Rack string `json:"rack,omitempty"`
	// State is waiting, joining, active, leaving, or lost.
	State  string `json:"state"`
	Alive  bool   `json:"alive"`
	Weight int    `json:"weight"`
	// Slots counts those that it holds, Homes those among them whose home it is to be.
	Slots int `json:"slots"`
	Homes int `json:"homes"`
}

// RingProgress is how far a plan is.
type RingProgress struct {
	ID      string    `json:"id"`
	By      string    `json:"by,omitempty"`
	Since   time.Time `json:"since"`
	Changes []string  `json:"changes,omitempty"`
	// Aborting: it goes back to the ring before. LossAccepted: there is no way back.
	Aborting     bool `json:"aborting,omitempty"`
	LossAccepted bool `json:"loss_accepted,omitempty"`
	// Slots is how many the plan moves, Moved how many of them are where they should be, Moving how many are on their way.
	Slots  int `json:"slots"`
	Moved  int `json:"moved"`
	Moving int `json:"moving"`
	// Bytes is about how much is copied in all, BytesDone how much has been.
	Bytes     int64      `json:"bytes"`
	BytesDone int64      `json:"bytes_done"`
	Moves     []RingMove `json:"moves,omitempty"`
	// SecondsLeft is how long what is left takes at the rate that is set.
	SecondsLeft int64 `json:"seconds_left"`
	// Stuck says which slots can't move as things are, and why.
	Stuck []string `json:"stuck,omitempty"`
}

// RingMove is what one member copies from another.
type RingMove struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Slots int    `json:"slots"`
	Bytes int64  `json:"bytes"`
	// Done are the slots that have been copied, Moving those that are being.
	Done      int   `json:"done"`
	Moving    int   `json:"moving"`
	BytesDone int64 `json:"bytes_done"`
}

// RingPlan is what the staged changes mean.
type RingPlan struct {
	// ID is what they are committed by; empty if they can't be.
	ID      string   `json:"id,omitempty"`
	Changes []string `json:"changes,omitempty"`
	// Problem says why they can't be committed as they are.
	Problem string `json:"problem,omitempty"`
	// Loss says which slots could not move, because too few of their members are alive.
	Loss []string `json:"loss,omitempty"`
	// UnderWay is the plan that they would become part of.
	UnderWay string `json:"under_way,omitempty"`
	// Waiting are nodes that wait to join, and for which nothing is staged.
	Waiting []string     `json:"waiting,omitempty"`
	Preview *RingPreview `json:"preview,omitempty"`
	DryRun  bool         `json:"dry_run,omitempty"`
}

// RingPreview is what a plan would do.
type RingPreview struct {
	// Slots change, Homes of them get another home; Copies of slots are made, of so many Bytes.
	Slots  int   `json:"slots"`
	Homes  int   `json:"homes"`
	Copies int   `json:"copies"`
	Bytes  int64 `json:"bytes"`
	// Seconds is how long that takes at the Rate, in bytes a second for each node.
	Rate    int64       `json:"rate"`
	Seconds int64       `json:"seconds"`
	Moves   []RingMove  `json:"moves,omitempty"`
	Nodes   []RingShare `json:"nodes"`
	// Before and After say what may fail with every slot still having a majority.
	Before RingSurvival `json:"before"`
	After  RingSurvival `json:"after"`
}

// RingShare is how much of the ring a member has before and after a plan.
type RingShare struct {
	Name          string `json:"name"`
	Slots         int    `json:"slots"`
	SlotsAfter    int    `json:"slots_after"`
	Homes         int    `json:"homes"`
	HomesAfter    int    `json:"homes_after"`
	Bytes         int64  `json:"bytes"`
	BytesAfter    int64  `json:"bytes_after"`
	BytesReceived int64  `json:"bytes_received"`
	BytesSent     int64  `json:"bytes_sent"`
}

// RingSurvival is how many nodes, or whole racks, may fail at a time, whichever they are.
type RingSurvival struct {
	Nodes int `json:"nodes"`
	Racks int `json:"racks"`
}

// RingEvent is a line of the ring's history.
type RingEvent struct {
	Version uint64    `json:"version"`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"`
	What    string    `json:"what"`
}
