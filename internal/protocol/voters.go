package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// Voters says in a hello who decides on the ring: the members of the Raft group of a formation, as of an index of its log.
type Voters struct {
	Formation uint64
	Index     uint64
	IDs       []uint64
}

// PropertyVoters is under what a hello has its Voters.
const PropertyVoters = "voters"

// maxVoters is more than there ever are, also while they change.
const maxVoters = 16

// String writes voters as numbers in base 16: the formation, the index, the IDs.
func (v Voters) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x %x", v.Formation, v.Index)
	for _, id := range v.IDs {
		fmt.Fprintf(&b, " %x", id)
	}
	return b.String()
}

// parseVoters reads what String has written.
func parseVoters(text string) (Voters, error) {
	words := strings.Split(text, " ")
	if len(words) < 3 || len(words) > 2+maxVoters {
		return Voters{}, fmt.Errorf("%d numbers", len(words))
	}
	numbers := make([]uint64, len(words))
	for i, word := range words {
		var err error
		if numbers[i], err = strconv.ParseUint(word, 16, 64); err != nil {
			return Voters{}, err
		}
	}
	return Voters{Formation: numbers[0], Index: numbers[1], IDs: numbers[2:]}, nil
}
