// Package parts keeps a large value in small parts, so that a change costs what the change is, and not what
// the value is. A Map is a collection, a Sequence a list, or what has an order and ranks, a Rope a string.
//
// A Map is a B+tree, and never changes for whoever has it. A change makes another Map, which shares most of its nodes, or takes them over and leaves what undoes
// the change: see run. So whoever is slower than one change (a dump, a repair, a reply) just keeps the
// Map that it has begun with, and what is under way at a home needs no copy.
//
// The order of its items is that of their positions, which are hashes of their keys: it is the same on all
// nodes, however a Map came to be, and a position says where an iteration goes on in any later Map.
//
// A Sequence is such a tree, too, by rank: its one change, Splice, puts elements in the place of a range of others, and an Edit makes one version of several of them. What is pushed at its ends
// fills its parts. It has runs as a Map has, while all of it is in memory.
//
// Of a Map that comes from a store only the root need be in memory: the other nodes are read when they are needed, see unread.
//
// The packed form is what small collections are kept as, beside their keys, and what is sent and stored: how many items there are, then of
// each the key and the value, each with its length before it. All numbers are uvarints. A part is packed, too.
package parts
