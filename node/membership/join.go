package membership

import (
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// What a member says to a node that is none: how it has to be to become one, and that it is none any more.

// compareSettings says why a node may not join the ring that this one is a member of. Members are not compared: their settings may be changed, one after the other.
func (m *Membership) compareSettings(props protocol.Properties) error {
	doc, theirs := m.Document(), props.Settings
	if doc == nil || theirs == nil || !m.isMember(doc) || isToHold(doc, props.Member.Name) {
		return nil
	}
	var wrong []string
	ours, name := m.opt.Settings, props.Member.Name
	if ours.MaxValue != theirs.MaxValue {
		wrong = append(wrong, fmt.Sprintf("--max-bulk is %d bytes on %s, but %d on %s: give %s the same", ours.MaxValue, m.opt.Name, theirs.MaxValue, name, name))
	}
	if ours.MaxCollection != theirs.MaxCollection {
		wrong = append(wrong, fmt.Sprintf("--max-collection is %d bytes on %s, but %d on %s: give %s the same", ours.MaxCollection, m.opt.Name, theirs.MaxCollection, name, name))
	}
	if theirs.Keeps < ours.Keeps {
		wrong = append(wrong, fmt.Sprintf("%s keeps what it acknowledges %s, and %s only %s: give %s an --engine and --fsync that promise as much", m.opt.Name, ours.Keeps, name, theirs.Keeps, name))
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%w: %s cannot join: %s", errDiffer, name, strings.Join(wrong, "; "))
}

// isMember reports whether this node votes in a ring.
func (m *Membership) isMember(doc *change.Document) bool {
	life, has := protocol.Life(*doc, m.self.Load())
	return has && life.State != change.Waiting
}

// isToHold reports whether somebody of that name is a member, or about to be: in whichever life.
func isToHold(doc *change.Document, name string) bool {
	life, known := doc.ByName(name)
	return known && life.State != change.Waiting
}

// warnOfFormer says, once, that a node has come back that is no member any more. It learns so, too, and says it (State): until then nobody takes part in its ring.
func (m *Membership) warnOfFormer(props protocol.Properties) {
	doc := m.Document()
	if doc == nil || !m.isMember(doc) {
		return
	}
	if _, member := protocol.Life(*doc, props.Member); member {
		return
	}
	_, taken := doc.ByName(props.Member.Name)
	hasData := props.Voting && props.Ring.Formation == doc.Formation && props.Ring.Version < doc.Version
	if !hasData && (taken || props.Initial == "") { // it has lost its state and comes back, or asks to join
		return
	}
	if m.former.Swap(props.Member.Generation) != props.Member.Generation {
		m.log.Warn("a node has come that is no member of the ring any more: it has no vote and gets no data; stop it, or start it with --join and without its data",
			"peer", props.Member.Name, "address", props.Member.Peer, "version", doc.Version)
	}
}
