// Package ring says which members hold which keys. A key hashes to one of 16,384
// slots exactly as in Redis Cluster (SlotOf); a Table maps each slot to an ordered
// list of members, the preferred home first. Plan computes the first table of a
// Cluster, and Replan who holds what after a change of it (ring/change). Everything
// here is a pure function of its input: the same cluster gives the same first table
// on every machine, so that processes that agree on the cluster need not send each
// other tables.
//
// The package decides ownership only. Who is alive is the business of ring/gossip,
// and never changes a table.
package ring

import (
	"bytes"

	"github.com/quolldb/quoll/internal/database"
)

// crcTable is the CRC16 table of the XMODEM variant: polynomial 0x1021, initial
// value 0, no reflection, no final xor.
var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}()

// SlotOf returns the slot of a key: CRC16 modulo 16,384 of the key's hash tag, or
// of the whole key if it has none. The hash tag is what stands between the
// first '{' and the first '}' after it, if that is not empty. It does not allocate.
// A key of another database than 0 is in the slot that the client's name of it says (package database), or in that of its database, if that is placed together.
// Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
func SlotOf(key []byte) uint16 {
	id, name := database.Split(key)
	if id.Together() {
		return SlotOfDatabase(id)
	}
	if all, ok := database.AllOf(key); ok {
		return SlotOfDatabase(all)
	}
	return crc16(hashTag(name)) % Slots
}

// SlotOfDatabase returns the slot of all keys of a database that is placed together.
func SlotOfDatabase(id database.ID) uint16 { return togetherSlots[id.Number()] }

var togetherSlots = func() (slots [database.Count]uint16) {
	for number := range slots {
		slots[number] = crc16(database.IDOf(number, true).Key(nil)) % Slots
	}
	return slots
}()

func hashTag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	rest := key[open+1:]
	if end := bytes.IndexByte(rest, '}'); end > 0 {
		return rest[:end]
	}
	return key
}

func crc16(data []byte) uint16 {
	var crc uint16
	for _, b := range data {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^b]
	}
	return crc
}
