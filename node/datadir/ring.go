package datadir

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/ring"
)

// savedRing is what ring.json holds.
type savedRing struct {
	Format int          `json:"format"`
	Ring   ring.Cluster `json:"ring"`
}

// Ring returns the ring that was saved last, nil if none was. It is not to be changed. Its
// addresses are those of that time.
func (d *Dir) Ring() *ring.Cluster {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ring
}

// SaveRing keeps a ring, which names this node with the directory's generation. It is on
// disk when SaveRing returns nil; after an error the former one may still be there.
func (d *Dir) SaveRing(cluster ring.Cluster) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkNext(cluster); err != nil {
		return err
	}
	if err := d.write(ringFile, savedRing{Format: format, Ring: cluster}); err != nil {
		return d.explain(err)
	}
	d.ring = &cluster
	if d.session.Ring {
		return nil
	}
	s := d.session // from now on it is noticed if ring.json is missing
	s.Ring, s.Data = true, true
	if err := d.write(sessionFile, s); err != nil {
		return d.explain(err)
	}
	d.session = s
	return nil
}

// checkNext says why a ring cannot be kept.
func (d *Dir) checkNext(cluster ring.Cluster) error {
	me, ok := cluster.ByName(d.identity.Node)
	switch {
	case d.closed:
		return errors.New("datadir: closed")
	case cluster.Validate() != nil:
		return cluster.Validate()
	case cluster.Name != d.identity.Cluster || !ok:
		return fmt.Errorf("datadir: a ring of cluster %s, node %s among its members: %t; the directory is node %s of cluster %s",
			cluster.Name, d.identity.Node, ok, d.identity.Node, d.identity.Cluster)
	case d.session.Lost != "":
		return fmt.Errorf("datadir: no ring is kept: %s", d.session.Lost)
	case me.Generation != d.identity.Generation:
		return errors.New("datadir: the ring names another generation of this node")
	case d.ring != nil && cluster.Epoch < d.ring.Epoch:
		return fmt.Errorf("datadir: the ring is of epoch %d, and one of epoch %d is kept", cluster.Epoch, d.ring.Epoch)
	}
	return nil
}

// of reports whether a ring can be of this directory, whatever the generation.
func (s savedRing) of(i Identity) bool {
	_, ok := s.Ring.ByName(i.Node)
	return ok && s.Ring.Name == i.Cluster && s.Ring.Validate() == nil
}
