package wire

// ProtocolVersion is the version of the peer protocol. Peers with different ones
// do not talk to each other.
const ProtocolVersion = 7

// Role says what kind of process a peer is.
type Role string

// The roles.
const (
	RoleNode  Role = "node"
	RoleProxy Role = "proxy"
	RoleTool  Role = "tool"
)

// Hello is what each side tells of itself in the handshake. The transport does
// not judge it: Accept and Check do.
type Hello struct {
	Role Role `json:"role"`
	// Name is the name of the ring member, or whatever tells a proxy from the others.
	Name string `json:"name"`
	// Cluster is the name of the cluster.
	Cluster string `json:"cluster"`
	// Properties belong to the layers above: ring epoch, initial cluster and so on.
	// All of a Hello has at most 1 MiB as JSON.
	Properties map[string]string `json:"properties,omitempty"`
}
