package admin

import (
	"fmt"
	"strings"
)

// Deciders are those who decide on changes of the ring: a majority of them is needed for each. Commands need none of it.
type Deciders struct {
	Voters []RingDecider `json:"voters"`
	// Leader is the one of them that leads, empty if none says that it does.
	Leader string `json:"leader,omitempty"`
	// Decides: a majority of them answers.
	Decides bool `json:"decides"`
}

// Decide says who decides on the ring, as far as the process knows that was asked, and warns if they can't. What the nodes say of it is already there.
func (s *Status) Decide(voters []RingDecider) {
	d := &Deciders{}
	var there, missing []string
	for _, v := range voters {
		for _, n := range s.Nodes {
			if n.Name != v.Name {
				continue
			}
			v.Alive = v.Alive && n.State != Unreachable && n.Undecided == ""
			if n.Decides && v.Alive {
				d.Leader = n.Name
			}
			if n.Undecided != "" {
				s.Warnings = append(s.Warnings, fmt.Sprintf("node %s takes no part in deciding on the ring: %s", n.Name, n.Undecided))
			}
		}
		if d.Voters = append(d.Voters, v); v.Alive {
			there = append(there, v.Name)
		} else {
			missing = append(missing, v.Name)
		}
	}
	d.Decides = len(there) > len(voters)/2
	s.Deciders = d
	if len(voters) > 0 && !d.Decides {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the ring cannot be changed, for of the %d nodes that decide on it %d answer: start %s again; commands go on without. "+
			"If they are gone for good: quoll ring recover", len(voters), len(there), strings.Join(missing, ", ")))
	}
}

// String says it in a sentence.
func (d Deciders) String() string {
	names := make([]string, len(d.Voters))
	for i, v := range d.Voters {
		if names[i] = v.Name; !v.Alive {
			names[i] += " (does not answer)"
		}
	}
	text := "Changes of the ring are decided by " + strings.Join(names, ", ")
	if d.Leader == "" {
		return text + "; nobody leads at the moment."
	}
	return text + "; " + d.Leader + " leads."
}
