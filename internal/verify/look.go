package verify

import (
	"context"
	"math/rand/v2"
)

// look reads a group, or a part of it, at one moment.
type look func(b *bank, ctx context.Context, address int, g *group) (reading, error)

// looks are the ways to do so.
var looks = [...]look{(*bank).byMGet, (*bank).byExec, (*bank).bySUnion, (*bank).bySInter}

func (b *bank) byMGet(ctx context.Context, address int, g *group) (reading, error) {
	reply, err := b.run.do(ctx, address, g.get()...)
	return readValues(reply), err
}

func (b *bank) byExec(ctx context.Context, address int, g *group) (reading, error) {
	replies, err := b.transact(ctx, address, g.getAll()...)
	return readAll(replies), err
}

// bySUnion reads what all sets have together: a set that was read before a token came to it, and one that was read after the token had left it, do not have it.
func (b *bank) bySUnion(ctx context.Context, address int, g *group) (reading, error) {
	reply, err := b.run.do(ctx, address, command("SUNION", g.cells[sets])...)
	r := reading{by: "SUNION", answers: []answer{reply}, whole: true}
	r.cells[sets] = []string{reply.text}
	return r, err
}

// bySInter reads what two sets have in common, which is nothing at any one moment.
func (b *bank) bySInter(ctx context.Context, address int, g *group) (reading, error) {
	cells := g.cells[sets]
	one := rand.IntN(len(cells))
	other := (one + 1 + rand.IntN(len(cells)-1)) % len(cells)
	reply, err := b.run.do(ctx, address, "SINTER", cells[one], cells[other])
	return reading{by: "SINTER", answers: []answer{reply}, whole: true, shared: true}, err
}
