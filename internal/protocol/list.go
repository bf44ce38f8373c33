package protocol

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// ListPage is a node's answer to MethodList, which asks as a ScanRequest does for the records of a database in the one slot that it has: in order, and all of one moment. Whether
// values have expired it does not say.
type ListPage struct {
	ScanPage
	// Promised, Cleared and Unsure are the replica's at that moment: see record.SlotMeta.
	Promised record.Ballot
	Cleared  record.Version
	Unsure   bool
}

// AppendListPage appends the payload of the reply.
func AppendListPage(dst []byte, p *ListPage) []byte {
	dst = wire.AppendVersion(dst, record.Version{Ballot: p.Promised})
	dst = wire.AppendVersion(dst, p.Cleared)
	dst = wire.AppendBool(dst, p.Unsure)
	return AppendScanPage(dst, &p.ScanPage)
}

// DecodeListPage decodes it. The keys are views into the payload.
func DecodeListPage(payload []byte) (p ListPage, err error) {
	d := wire.NewDecoder(payload)
	p.Promised, p.Cleared, p.Unsure = d.Version().Ballot, d.Version(), d.Bool()
	if d.Err() != nil {
		return p, d.Err()
	}
	p.ScanPage, err = DecodeScanPage(d.Rest())
	return p, err
}
