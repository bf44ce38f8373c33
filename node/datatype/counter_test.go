package datatype

import "testing"

func TestCounters(t *testing.T) {
	const (
		notInt   = "-ERR value is not an integer or out of range\r\n"
		overflow = "-ERR increment or decrement would overflow\r\n"
		maximum  = "9223372036854775807"
		minimum  = "-9223372036854775808"
	)
	runRows(t, []row{
		{absent, "INCR k", ":1\r\n", str("1"), written},
		{absent, "DECR k", ":-1\r\n", str("-1"), written},
		{strUntil("9", testNow+5), "INCR k", ":10\r\n", strUntil("10", testNow+5), written},
		{str("5"), "INCRBY k -10", ":-5\r\n", str("-5"), written},
		{str("5"), "DECRBY k 10", ":-5\r\n", str("-5"), written},
		{str(maximum), "INCR k", overflow, str(maximum), same},
		{str(minimum), "DECR k", overflow, str(minimum), same},
		{str("-1"), "INCRBY k " + minimum, overflow, str("-1"), same},
		{str("0"), "INCRBY k " + minimum, ":" + minimum + "\r\n", str(minimum), written},
		{absent, "DECRBY k " + minimum, "-ERR decrement would overflow\r\n", absent, same},
		{absent, "INCRBY k 9223372036854775808", notInt, absent, same},
		{str(""), "INCR k", notInt, str(""), same},
		{str("01"), "INCR k", notInt, str("01"), same},
		{str("-0"), "INCR k", notInt, str("-0"), same},
		{str("+1"), "INCR k", notInt, str("+1"), same},
		{str("-"), "INCR k", notInt, str("-"), same},
		{other, "INCR k", wrongType, other, same},
		{other, "INCRBY k x", notInt, other, same},
	})
}

func TestIncrByFloat(t *testing.T) {
	const (
		notFloat = "-ERR value is not a valid float\r\n"
		infinite = "-ERR increment would produce NaN or Infinity\r\n"
	)
	runRows(t, []row{
		{str("10.50"), "INCRBYFLOAT k 0.1", "$4\r\n10.6\r\n", str("10.6"), written},
		{strUntil("5.0e3", testNow+5), "INCRBYFLOAT k 2.0e2", "$4\r\n5200\r\n", strUntil("5200", testNow+5), written},
		{absent, "INCRBYFLOAT k 0x1.8p1", "$1\r\n3\r\n", str("3"), written},
		{absent, "INCRBYFLOAT k -1e-30", "$1\r\n0\r\n", str("0"), written},
		{absent, "INCRBYFLOAT k .5", "$3\r\n0.5\r\n", str("0.5"), written},
		{absent, "INCRBYFLOAT k +5.", "$1\r\n5\r\n", str("5"), written},
		{str("3.0"), "INCRBYFLOAT k 1.0000000000000000001", "$1\r\n4\r\n", str("4"), written},
		{str("0.1"), "INCRBYFLOAT k 0.2", "$3\r\n0.3\r\n", str("0.3"), written},
		{absent, "INCRBYFLOAT k inf", infinite, absent, same},
		{absent, "INCRBYFLOAT k -Infinity", infinite, absent, same},
		{str("1.1e4932"), "INCRBYFLOAT k 1e4932", infinite, str("1.1e4932"), same},
		{absent, "INCRBYFLOAT k nan", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 1e4933", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 1e-4952", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 1e-99999999999999999999", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 0e99999999999999999999", "$1\r\n0\r\n", str("0"), written},
		{absent, "INCRBYFLOAT k 1e", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 0x", notFloat, absent, same},
		{absent, "INCRBYFLOAT k .", notFloat, absent, same},
		{absent, "INCRBYFLOAT k 1.2.3", notFloat, absent, same},
		{str(""), "INCRBYFLOAT k 1", notFloat, str(""), same},
		{str("1\x00"), "INCRBYFLOAT k 1", notFloat, str("1\x00"), same},
		{other, "INCRBYFLOAT k x", wrongType, other, same},
	})
}
