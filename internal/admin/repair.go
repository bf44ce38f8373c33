package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/ring"
)

// POST /v1/repair?slots=A-B&node=NAME&dry-run=true lets all nodes compare their replicas, and write
// again what one has missed. It answers with lines of JSON, a RepairProgress each, at least one a
// second; the last one is done. It ends soon after the client has gone. An error before the first line
// is JSON with a status code, as everywhere.

// RepairRequest says what to compare.
type RepairRequest struct {
	// First and Last are slots.
	First, Last uint16
	// Node is the only node whose replicas are compared with the others', empty for all.
	Node string
	// DryRun: nothing is written.
	DryRun bool
}

// Whole reports whether these are all slots.
func (r RepairRequest) Whole() bool { return r.First == 0 && r.Last == ring.Slots-1 }

// RepairProgress is what the nodes have done so far, all together.
type RepairProgress struct {
	// Slots were compared, a slot once for each pair of replicas, of Total so far; Differing of
	// them differed. Unreadable more could not be compared: the data of one replica is damaged.
	Slots      int64 `json:"slots"`
	Total      int64 `json:"total"`
	Differing  int64 `json:"differing"`
	Unreadable int64 `json:"unreadable"`
	// Keys were written again, or would have been, with so many Bytes; Failed could not be.
	Keys   int64 `json:"keys"`
	Bytes  int64 `json:"bytes"`
	Failed int64 `json:"failed"`
	// Waiting are nodes that have another comparison to end first.
	Waiting []string `json:"waiting,omitempty"`
	// Errors say what could not be compared to its end.
	Errors []RepairError `json:"errors,omitempty"`
	Done   bool          `json:"done"`
}

// RepairError says why a node could not compare its replicas with those of Peer, or at all.
type RepairError struct {
	Node  string `json:"node"`
	Peer  string `json:"peer,omitempty"`
	Error string `json:"error"`
}

// RepairSource is a Backend that can have replicas repaired.
type RepairSource interface {
	// RepairAll reports how far it is, the last time when it is done, or returns why it cannot begin. It
	// ends soon after ctx does, or report has returned an error.
	RepairAll(ctx context.Context, request RepairRequest, report func(RepairProgress) error) error
}

// BadRequest returns an error that is the client's fault.
func BadRequest(text string) error { return errRequest(text) }

// ParseSlots parses 7 or 0-100; nothing is all slots.
func ParseSlots(text string) (first, last uint16, err error) {
	if text == "" {
		return 0, ring.Slots - 1, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	a, errA := strconv.ParseUint(from, 10, 16)
	b, errB := strconv.ParseUint(to, 10, 16)
	switch {
	case errors.Is(errA, strconv.ErrRange), errors.Is(errB, strconv.ErrRange), errA == nil && errB == nil && max(a, b) >= ring.Slots:
		return 0, 0, fmt.Errorf("%q is out of range: slots are 0 to %d", text, ring.Slots-1)
	case errA != nil || errB != nil:
		return 0, 0, fmt.Errorf("%q is neither a slot nor a range of slots such as 0-100", text)
	case a > b:
		return 0, 0, fmt.Errorf("%q ends before it begins", text)
	}
	return uint16(a), uint16(b), nil
}

func repairRequest(r *http.Request) (request RepairRequest, err error) {
	query := r.URL.Query()
	request.Node = query.Get("node")
	if request.First, request.Last, err = ParseSlots(query.Get("slots")); err != nil {
		return request, BadRequest("slots: " + err.Error())
	}
	if text := query.Get("dry-run"); text != "" {
		if request.DryRun, err = strconv.ParseBool(text); err != nil {
			return request, BadRequest(fmt.Sprintf("dry-run: %q is neither true nor false", text))
		}
	}
	return request, nil
}

func (h *handler) repair(w http.ResponseWriter, r *http.Request) {
	source, ok := h.backend.(RepairSource)
	if !ok {
		fail(w, http.StatusNotFound, "this process is no node and holds no data: give the admin address of a node")
		return
	}
	request, err := repairRequest(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	control, encoder, begun := http.NewResponseController(w), json.NewEncoder(w), false
	// The server bounds requests that are short. Its errors mean that there is no bound.
	_ = control.SetReadDeadline(time.Time{})
	err = source.RepairAll(r.Context(), request, func(p RepairProgress) error {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		_ = control.SetWriteDeadline(time.Now().Add(backupStall))
		if err := encoder.Encode(p); err != nil {
			return err
		}
		return control.Flush()
	})
	switch {
	case err == nil || begun: // without its last line the answer has visibly broken off
	case errors.As(err, new(errRequest)):
		fail(w, http.StatusBadRequest, err.Error())
	default:
		fail(w, http.StatusServiceUnavailable, err.Error())
	}
}
