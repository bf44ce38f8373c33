package membership

import (
	"errors"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// The document of the ring (change.Document), and how a node takes up the next version of it: first it is durable here, then the node works by it, then others hear that
// it is known here. Whoever names a version has it in every later life, too.

// known is what a node knows of the ring. It is immutable but for a cache.
type known struct {
	document change.Document
	news     protocol.RingNews
	moved    []protocol.Address // members that are reached elsewhere than the document says

	mu     sync.Mutex
	deltas map[uint64][]byte // by the version that they are since
}

// maxDeltas is how many deltas are kept: many nodes ask for the same at once.
const maxDeltas = 8

// since returns what has changed since a version.
func (k *known) since(version uint64) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	delta, made := k.deltas[version]
	if !made {
		if delta = k.document.SinceWith(version, k.news.Digest); len(k.deltas) < maxDeltas {
			k.deltas[version] = delta
		}
	}
	return delta
}

// errReplaced is why a node ends whose place another process has taken.
var errReplaced = errors.New("another process of this node's name has taken its place in the ring, as one that had lost its state: look whether two nodes have the same name")

// Document returns the newest version of the ring that this node works by, or, if it is no member, has heard of; nil before there is one. Nobody changes it.
func (m *Membership) Document() *change.Document {
	if k := m.known.Load(); k != nil {
		return &k.document
	}
	return nil
}

// News says which ring and version this node knows, zero before there is one.
func (m *Membership) News() protocol.RingNews {
	if k := m.known.Load(); k != nil {
		return k.news
	}
	return protocol.RingNews{}
}

// offer is a document that waits to be taken up.
type offer struct {
	change.Document
	fetched bool // from another node
}

// Offer has a later version of the ring taken up, by Run, and other nodes told of it; what is no news is forgotten. It does not block.
func (m *Membership) Offer(doc change.Document) { m.propose(&offer{doc, false}) }

func (m *Membership) propose(o *offer) {
	for {
		waits := m.offer.Load()
		if !m.isNews(protocol.RingNews{Formation: o.Formation, Version: o.Version}) {
			return
		}
		if m.offer.CompareAndSwap(waits, o) {
			break
		}
	}
	select {
	case m.offered <- struct{}{}:
	default:
	}
}

// isNews reports whether a version of a ring is later than what is known here, or waits to be taken up.
func (m *Membership) isNews(n protocol.RingNews) bool {
	if n.Formation == 0 || m.opt.Forgotten.has(n.Formation) { // that one has not been given up yet there
		return false
	}
	if k := m.known.Load(); k != nil && (n.Formation != k.news.Formation || n.Version <= k.news.Version) {
		return false
	}
	waits := m.offer.Load()
	return waits == nil || n.Formation != waits.Formation || n.Version > waits.Version
}

// takeOffer takes up the document that was offered last.
func (m *Membership) takeOffer() {
	o := m.offer.Load()
	if o == nil {
		return
	}
	defer m.offer.CompareAndSwap(o, nil) // when it is known
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reforming.Load() {
		return
	}
	if err := m.take(o.Document, !o.fetched); err != nil && !errors.Is(err, errStoreFailed) {
		m.log.Error("a version of the ring cannot be taken up", "version", o.Version, "err", err)
	}
}

// take takes up a document, and tells others. m.mu is locked.
func (m *Membership) take(doc change.Document, tellNodes bool) error {
	if took, err := m.takeUp(doc); err != nil || !took {
		return err
	}
	k := m.known.Load()
	m.node.Announce(k.news, tellNodes)
	if m.opt.Changed != nil {
		m.opt.Changed(k.document)
	}
	return nil
}

// takeUp reports whether a document was news. m.mu is locked.
func (m *Membership) takeUp(doc change.Document) (took bool, err error) {
	k, self := m.known.Load(), m.self.Load()
	switch {
	case k != nil && (doc.Formation != k.news.Formation || doc.Version <= k.news.Version):
		return false, nil
	case m.node.Failed():
		return false, errStoreFailed
	}
	life, named := doc.LifeOf(self.Name, self.Generation)
	member := named && life.State != change.Lost
	if k != nil && m.lost.Load() == nil {
		if named && !member {
			m.node.Broken(errReplaced)
			return false, errReplaced
		}
		return true, m.advance(doc, life)
	}
	if member {
		return true, m.join(doc, life)
	}
	m.watch(doc)
	return true, nil
}

// join makes the node part of the ring that names it. m.mu is locked.
func (m *Membership) join(doc change.Document, life change.Life) error {
	k := m.newKnown(doc)
	enter, err := m.node.Prepare(protocol.Relocate(doc, k.moved))
	if err != nil {
		return err
	}
	if err := m.save(doc); err != nil {
		return err
	}
	m.enter(k, life, enter)
	m.log.Info("the node is part of the ring", "version", doc.Version, "nodes", len(doc.Members), "replicas", doc.Replicas)
	return nil
}

// enter lets the node vote in a ring that it is prepared for. m.mu is locked.
func (m *Membership) enter(k *known, life change.Life, enter func()) {
	m.describe(func(self *ring.Member) { self.ID = life.ID })
	enter()
	m.known.Store(k)
	m.lost.Store(nil)
	close(m.formed)
}

// advance has a node that votes work by a later version, in which it is such a life, none if it has left. m.mu is locked.
func (m *Membership) advance(doc change.Document, life change.Life) error {
	if err := m.save(doc); err != nil {
		return err
	}
	if life.ID != 0 {
		m.describe(func(self *ring.Member) { self.ID = life.ID })
	}
	k := m.newKnown(doc)
	if err := m.node.Learn(protocol.Relocate(doc, k.moved)); err != nil {
		return err
	}
	m.known.Store(k)
	m.log.Debug("the ring has changed", "version", doc.Version)
	return nil
}

// watch follows a ring of which the node is no member. m.mu is locked.
func (m *Membership) watch(doc change.Document) {
	m.meetMembers(m.newKnown(doc))
	_, named := doc.ByName(m.opt.Name)
	if m.lost.Load() == nil && named {
		m.loseState(m.lostHow())
	} else if m.lost.Load() == nil {
		m.stayOut()
	}
}

// meetMembers makes the ring known that the node does not vote in, and lets it meet the members.
func (m *Membership) meetMembers(k *known) {
	m.node.Acquaint(protocol.Relocate(k.document, k.moved))
	m.known.Store(k)
}

// save makes a document durable.
func (m *Membership) save(doc change.Document) error {
	id := m.opt.Identity
	if id == nil {
		return nil
	}
	err := id.SaveRing(doc)
	if err != nil {
		m.node.StorageFailed(err)
	}
	return err
}

// newKnown returns what there is to be known of a document. m.mu is locked.
func (m *Membership) newKnown(doc change.Document) *known {
	if m.known.Load() == nil {
		m.moved = m.relocations(doc)
	}
	k := &known{document: doc, news: protocol.RingNews{Formation: doc.Formation, Version: doc.Version, Digest: doc.Digest()}, deltas: map[uint64][]byte{}}
	k.moved = addresses(slices.DeleteFunc(slices.Clone(m.moved), func(r relocation) bool {
		l, found := doc.Member(r.ID)
		return !found || l.Peer != r.was
	}))
	return k
}

// relocation is where a member of the initial cluster is, if a document says something else. A later version that says where it is overrules that.
type relocation struct {
	protocol.Address
	was string
}

func addresses(moved []relocation) (all []protocol.Address) {
	for _, r := range moved {
		all = append(all, r.Address)
	}
	return all
}

// relocations compares a document with the initial cluster: machines may get other addresses while they do not run.
func (m *Membership) relocations(doc change.Document) (moved []relocation) {
	for _, given := range m.opt.Initial {
		if l, found := doc.ByName(given.Name); found && l.Peer != given.Peer {
			moved = append(moved, relocation{protocol.Address{ID: l.ID, Peer: given.Peer}, l.Peer})
		}
	}
	return moved
}
