package datadir

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// savedRing is what ring.json holds: the document of a ring as it is encoded, or, of format 1, which was written when rings never changed, the cluster that
// formed. Such a file is read, and stays until the ring changes.
type savedRing struct {
	Format   int           `json:"format"`
	Document []byte        `json:"document,omitempty"`
	Ring     *ring.Cluster `json:"ring,omitempty"`
}

// document returns the document that was saved.
func (s savedRing) document() (change.Document, error) {
	switch {
	case s.Ring != nil:
		return change.FromCluster(*s.Ring)
	case s.Document != nil:
		return change.Decode(s.Document)
	}
	return change.Document{}, errors.New("it has no ring")
}

// Ring returns the document of the ring that was saved last, nil if none was. Nobody changes it. Its
// addresses are those of that time.
func (d *Dir) Ring() *change.Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ring
}

// SaveRing keeps a ring's document, or a later version of it: the first one names this node with the directory's generation. It is on
// disk when SaveRing returns nil; after an error the former one may still be there.
func (d *Dir) SaveRing(doc change.Document) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkNext(doc); err != nil {
		return err
	}
	if err := d.write(ringFile, savedRing{Format: ringFormat, Document: doc.Encode()}); err != nil {
		return d.explain(err)
	}
	d.ring = &doc
	_, member := doc.LifeOf(d.identity.Node, d.identity.Generation)
	if d.session.Ring && (d.session.Lost == "" || !member) {
		return nil
	}
	s := d.session // from now on it is noticed if ring.json is missing
	s.Ring, s.Data, s.Lost = true, true, ""
	if err := d.write(sessionFile, s); err != nil {
		return d.explain(err)
	}
	d.session = s
	return nil
}

// checkNext says why a document cannot be kept.
func (d *Dir) checkNext(doc change.Document) error {
	_, member := doc.LifeOf(d.identity.Node, d.identity.Generation)
	switch {
	case d.closed:
		return errors.New("datadir: closed")
	case doc.Validate() != nil:
		return doc.Validate()
	case doc.Cluster != d.identity.Cluster:
		return fmt.Errorf("datadir: a ring of cluster %s; the directory is of cluster %s", doc.Cluster, d.identity.Cluster)
	case d.ring != nil && doc.Formation != d.ring.Formation:
		return errors.New("datadir: another ring is kept already")
	case d.ring != nil && doc.Version < d.ring.Version:
		return fmt.Errorf("datadir: the ring is of version %d, and version %d is kept", doc.Version, d.ring.Version)
	case d.session.Lost != "" && !member:
		return fmt.Errorf("datadir: no ring is kept: %s", d.session.Lost)
	case d.ring == nil && !member:
		return fmt.Errorf("datadir: the ring does not name node %s with the generation of this directory", d.identity.Node)
	}
	return nil
}
