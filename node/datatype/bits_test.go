package datatype

import "testing"

func TestBits(t *testing.T) {
	const (
		badOffset = "-ERR bit offset is not an integer or out of range\r\n"
		badBit    = "-ERR bit is not an integer or out of range\r\n"
	)
	runRows(t, []row{
		{absent, "SETBIT k 7 1", ":0\r\n", str("\x01"), written},
		{absent, "SETBIT k 8 0", ":0\r\n", str("\x00\x00"), written},
		{str("\x01"), "SETBIT k 7 0", ":1\r\n", str("\x00"), written},
		{str("\x01"), "SETBIT k 7 1", ":1\r\n", str("\x01"), same},
		{str("\x01"), "SETBIT k 0 0", ":0\r\n", str("\x01"), same},
		{str("\x01"), "SETBIT k -1 0", badOffset, str("\x01"), same},
		{str("\x01"), "SETBIT k 4294967296 0", badOffset, str("\x01"), same},
		{str("\x01"), "SETBIT k 0 2", badBit, str("\x01"), same},
		{other, "SETBIT k 0 1", wrongType, other, same},
		{str("\x01"), "GETBIT k 7", ":1\r\n", str("\x01"), same},
		{str("\x01"), "GETBIT k 536870911", ":0\r\n", str("\x01"), same},
		{absent, "GETBIT k 0", ":0\r\n", absent, same},
		{str("foobar"), "BITCOUNT k", ":26\r\n", str("foobar"), same},
		{str("foobar"), "BITCOUNT k 1 1", ":6\r\n", str("foobar"), same},
		{str("foobar"), "BITCOUNT k 5 30 BIT", ":17\r\n", str("foobar"), same},
		{str("foobar"), "BITCOUNT k -10 -20", ":0\r\n", str("foobar"), same},
		{str("foobar"), "BITCOUNT k 1", "-ERR syntax error\r\n", str("foobar"), same},
		{str("foobar"), "BITCOUNT k 1 2 bits", "-ERR syntax error\r\n", str("foobar"), same},
		{absent, "BITCOUNT k 1", ":0\r\n", absent, same},
		{str("\xff\xf0\x00"), "BITPOS k 0", ":12\r\n", str("\xff\xf0\x00"), same},
		{str("\xff\xff"), "BITPOS k 0", ":16\r\n", str("\xff\xff"), same},
		{str("\xff\xff"), "BITPOS k 0 0 -1", ":-1\r\n", str("\xff\xff"), same},
		{str("\x00\x00"), "BITPOS k 1", ":-1\r\n", str("\x00\x00"), same},
		{str("\x00\x0f"), "BITPOS k 1 3 13 BIT", ":12\r\n", str("\x00\x0f"), same},
		{str("\x00\x0f"), "BITPOS k 1 3 11 BIT", ":-1\r\n", str("\x00\x0f"), same},
		{str(""), "BITPOS k 0", ":-1\r\n", str(""), same},
		{absent, "BITPOS k 0 x", ":0\r\n", absent, same},
		{absent, "BITPOS k 1", ":-1\r\n", absent, same},
		{absent, "BITPOS k 2", "-ERR The bit argument must be 1 or 0.\r\n", absent, same},
		{other, "BITPOS k 0", wrongType, other, same},
	})
}

func TestBitField(t *testing.T) {
	const badType = "-" + errFieldType + "\r\n"
	runRows(t, []row{
		{absent, "BITFIELD k", "*0\r\n", absent, same},
		{absent, "BITFIELD k GET u8 0", "*1\r\n:0\r\n", absent, same},
		{absent, "BITFIELD k SET u8 #1 255 GET i8 8", "*2\r\n:0\r\n:-1\r\n", str("\x00\xff"), written},
		{absent, "BITFIELD k INCRBY i5 100 1 GET u4 0", "*2\r\n:1\r\n:0\r\n", str("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"), written},
		{str("\xff"), "BITFIELD k INCRBY u8 0 1", "*1\r\n:0\r\n", str("\x00"), written},
		{str("\xff"), "BITFIELD k OVERFLOW SAT INCRBY u8 0 1", "*1\r\n:255\r\n", str("\xff"), same},
		{str("\xff"), "BITFIELD k OVERFLOW FAIL INCRBY u8 0 1", "*1\r\n$-1\r\n", str("\xff"), same},
		{absent, "BITFIELD k OVERFLOW FAIL SET u8 0 256", "*1\r\n$-1\r\n", str("\x00"), written},
		{str("\x01"), "BITFIELD k OVERFLOW SAT SET u8 0 -1", "*1\r\n:1\r\n", str("\xff"), written},
		{str("\x01"), "BITFIELD k SET i8 0 1", "*1\r\n:1\r\n", str("\x01"), same},
		{absent, "BITFIELD k GET u64 0", badType, absent, same},
		{absent, "BITFIELD k GET i65 0", badType, absent, same},
		{absent, "BITFIELD k GET x8 0", badType, absent, same},
		{absent, "BITFIELD k GET i8 -1", "-" + errBitOffset + "\r\n", absent, same},
		{absent, "BITFIELD k GET i8", "-ERR syntax error\r\n", absent, same},
		{absent, "BITFIELD k OVERFLOW x", "-ERR Invalid OVERFLOW type specified\r\n", absent, same},
		{absent, "BITFIELD_RO k SET u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand\r\n", absent, same},
		{other, "BITFIELD_RO k GET u8 0", wrongType, other, same},
		{str("a"), "BITFIELD_RO k OVERFLOW SAT GET u8 0", "*1\r\n:97\r\n", str("a"), same},
	})
}
