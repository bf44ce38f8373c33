package protocol

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// Properties is what nodes and proxies tell of themselves in the handshake, beside
// role, name and cluster name.
type Properties struct {
	// Initial is the initial cluster as text; a proxy may leave it empty, and so does a node whose ring has changed since it formed.
	Initial string
	// Member describes the node itself: rack, weight, addresses, generation.
	Member *ring.Member
	// Replicas is N, 0 of a node whose ring has changed since it formed: it says what counts.
	Replicas int
	// Ring says which ring the node knows, and which version of it; zero before there is one.
	Ring RingNews
	// Voting: the node takes part; State says why not otherwise. Failed: because its store has failed.
	Voting, Failed bool
	State          string
	// Clients is where clients of a Redis Cluster reach a node that serves them itself, empty if it does not.
	Clients string
	// ReplicaClients is where they reach its replica port, empty if it has none.
	ReplicaClients string
	// Version of the program.
	Version string
	// Restored identifies the backups that a node's data began with.
	Restored string
	// Pieces: a proxy takes long replies in pieces (ReplyPiece).
	Pieces bool
	// Proxies is how many proxies are connected to the node.
	Proxies int
	// After is the highest epoch of rings that were given up, 0 for none: that of the next ring is above it.
	After uint64
	// Voters are who decides on the ring, as far as a node knows.
	Voters Voters
	// Process tells a start of a node from every other one, 0 of one whose version does not say: two that run at the same time with one identity are copies.
	Process uint64
	// Settings are those of a node, nil of one whose version does not say.
	Settings *Settings
}

// Encode puts the properties into a Hello.
func (p Properties) Encode(h wire.Hello) wire.Hello {
	h.Properties = map[string]string{
		"initial": p.Initial, "replicas": strconv.Itoa(p.Replicas), "voting": strconv.FormatBool(p.Voting),
		"state": p.State, "version": p.Version, "restored": p.Restored,
		"proxies": strconv.Itoa(p.Proxies),
	}
	if p.After > 0 {
		h.Properties["after"] = strconv.FormatUint(p.After, 10)
	}
	if p.Member != nil {
		h.Properties["member"] = toJSON(p.Member)
	}
	if p.Process > 0 {
		h.Properties["process"] = strconv.FormatUint(p.Process, 10)
	}
	if p.Settings != nil {
		h.Properties["settings"] = toJSON(p.Settings)
	}
	if p.Clients != "" {
		h.Properties["clients"] = p.Clients
	}
	if p.ReplicaClients != "" {
		h.Properties["replica-clients"] = p.ReplicaClients
	}
	if p.Failed {
		h.Properties["failed"] = "true"
	}
	if p.Pieces {
		h.Properties["pieces"] = "true"
	}
	if p.Ring.Formation != 0 {
		h.Properties["ring"] = p.Ring.String()
	}
	if len(p.Voters.IDs) > 0 {
		h.Properties[PropertyVoters] = p.Voters.String()
	}
	return h
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers
	}
	return string(text)
}

// DecodeProperties reads the properties of a Hello.
func DecodeProperties(h wire.Hello) (Properties, error) {
	p := Properties{Initial: h.Properties["initial"], State: h.Properties["state"], Version: h.Properties["version"],
		Voting: h.Properties["voting"] == "true", Failed: h.Properties["failed"] == "true", Restored: h.Properties["restored"], Clients: h.Properties["clients"],
		ReplicaClients: h.Properties["replica-clients"], Pieces: h.Properties["pieces"] == "true"}
	var err error
	if text := h.Properties["replicas"]; text != "" {
		if p.Replicas, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("replicas: %w", err)
		}
	}
	if text := h.Properties["proxies"]; text != "" {
		if p.Proxies, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("proxies: %w", err)
		}
	}
	if text := h.Properties["after"]; text != "" {
		if p.After, err = strconv.ParseUint(text, 10, 64); err != nil || p.After == math.MaxUint64 {
			return p, fmt.Errorf("after: %q is no epoch", text)
		}
	}
	if text := h.Properties["member"]; text != "" {
		p.Member = new(ring.Member)
		if err := json.Unmarshal([]byte(text), p.Member); err != nil {
			return p, fmt.Errorf("member: %w", err)
		}
	}
	if text := h.Properties["process"]; text != "" {
		if p.Process, err = strconv.ParseUint(text, 10, 64); err != nil {
			return p, fmt.Errorf("process: %w", err)
		}
	}
	if text := h.Properties["settings"]; text != "" {
		p.Settings = new(Settings)
		if err := json.Unmarshal([]byte(text), p.Settings); err != nil {
			return p, fmt.Errorf("settings: %w", err)
		}
	}
	if text := h.Properties["ring"]; text != "" {
		if p.Ring, err = parseRingNews(text); err != nil {
			return p, fmt.Errorf("ring: %w", err)
		}
	}
	if text := h.Properties[PropertyVoters]; text != "" {
		if p.Voters, err = parseVoters(text); err != nil {
			return p, fmt.Errorf("voters: %w", err)
		}
	}
	return p, nil
}
