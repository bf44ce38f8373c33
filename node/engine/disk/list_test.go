package disk

import (
	"fmt"

	"github.com/quolldb/quoll/internal/command"
)

// fillList makes a list of many elements.
func (h *hashes) fillList(key string, elements int) {
	h.run(command.OpDel, key)
	args := []string{key}
	for i := range elements {
		args = append(args, fmt.Sprint("element", i, h.value()))
	}
	h.run(command.OpRPush, args...)
}

// changeList makes a change of a list: anywhere, at an end, or of many elements, after which it is as long again.
func (h *hashes) changeList(key string) {
	index := fmt.Sprint(h.random.IntN(1500))
	switch h.random.IntN(12) {
	case 0:
		h.run(command.OpLPop, key)
	case 1:
		h.run(command.OpRPop, key, "3")
	case 2:
		h.run(command.OpLSet, key, index, h.value())
	case 3:
		h.run(command.OpLInsert, key, "BEFORE", h.value(), h.value())
	case 4:
		h.run(command.OpLRem, key, "-2", h.value())
	case 5:
		if h.random.IntN(5) == 0 {
			h.run(command.OpLTrim, key, index, "-2")
			h.fillMore(key, 1000)
		}
	default:
		h.fillMore(key, 1)
	}
}

// fillMore pushes some elements at both ends.
func (h *hashes) fillMore(key string, elements int) {
	for _, op := range []command.Op{command.OpLPush, command.OpRPush} {
		args := []string{key}
		for range elements {
			args = append(args, h.value())
		}
		h.run(op, args...)
	}
}
