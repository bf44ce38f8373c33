package config

import (
	"errors"
	"fmt"
	"strings"
)

// clusterType is the type of the flag --initial-cluster: in the file it may also be
// a list or a mapping.
const clusterType = "cluster"

type clusterValue string

func (v *clusterValue) Set(text string) error { *v = clusterValue(text); return nil }
func (v *clusterValue) String() string        { return string(*v) }
func (v *clusterValue) Type() string          { return clusterType }

// maxMembers is how many nodes a cluster may have, which package ring bounds too.
const maxMembers = 1000

// member is one node of the initial cluster.
type member struct {
	name    string
	address string // where the others reach it
}

// parseCluster reads "name=host:port,name=host:port". Names and addresses are
// distinct. Spaces around entries do not matter. Package ring parses the same text
// into what the cluster is made of; here it is only looked at, so that a fault in it is
// found together with the others and addresses left out can be taken from it.
func parseCluster(text string) ([]member, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is required: name=host:port of every node, e.g. a=10.0.0.1:7000,b=10.0.0.2:7000,c=10.0.0.3:7000; a node that comes to a running cluster gets --join instead")
	}
	var members []member
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(text, ",") {
		name, address, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok {
			return nil, fmt.Errorf("%q is not name=host:port", entry)
		}
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("in %q: %w", entry, err)
		}
		if err := checkDial(address); err != nil {
			return nil, fmt.Errorf("in %q: %w", entry, err)
		}
		if seen[name] || seen["="+address] {
			return nil, fmt.Errorf("%q repeats a name or an address", entry)
		}
		seen[name], seen["="+address] = true, true
		if members = append(members, member{name: name, address: address}); len(members) > maxMembers {
			return nil, fmt.Errorf("names more than %d nodes", maxMembers)
		}
	}
	return members, nil
}
