package session

import (
	"fmt"

	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
)

// Events of keys are published by the nodes, which do so as long as some proxy asks for them. What the clients of a proxy subscribe to they hear, whichever proxy has asked: CONFIG SET
// may be of one connection, and SUBSCRIBE of another, at another proxy.

// events are the classes that this proxy asks for.
func (s *Service) events() notify.Class { return notify.Class(s.config.events.Load()) }

// askForEvents asks all nodes to publish some classes of events, instead of those before. wait waits until they know.
func (s *Service) askForEvents(classes notify.Class) (wait func()) {
	s.config.events.Store(uint32(classes))
	return s.cluster.Interest([]protocol.Interest{{Kind: protocol.OfEvents, Clients: uint64(classes)}})
}

// setEvents is CONFIG SET notify-keyspace-events. What happens after its reply is told.
func setEvents(s *Session, value string) (func(), error) {
	classes, ok := notify.Parse(value)
	if !ok {
		return nil, fmt.Errorf("Invalid event class character. Use '%s'.", notify.Letters)
	}
	return func() { s.service.askForEvents(classes)() }, nil
}
