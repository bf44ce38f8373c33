package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// format is the newest format of the directory that this version knows, but for ring.json. Every one, also
// those to come, ends its files with the checksum that seal appends.
const format = 1

// ringFormat is that of ring.json. Whoever does not know it refuses the directory.
const ringFormat = 2

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errChecksum = errors.New("its checksum is wrong")

// seal writes a value as a JSON object whose last line is a checksum of all lines
// before it.
func seal(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(bytes.TrimSuffix(text, []byte("\n}")), ",\n"...)
	return append(text, lastLine(text)...), nil
}

// unseal reads what seal wrote. No byte of it can be another without an error. If
// the format is a newer one, the error wraps ErrFormat.
func unseal(text []byte, value any) error {
	rest := max(0, len(text)-len(lastLine(nil)))
	if string(text[rest:]) != lastLine(text[:rest]) {
		return errChecksum
	}
	var head struct{ Format int }
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if newest := newestFormat(value); head.Format > newest {
		return fmt.Errorf("%w: its format is %d, and this version knows %d", ErrFormat, head.Format, newest)
	}
	return json.Unmarshal(text, value)
}

func newestFormat(value any) int {
	if _, ok := value.(*savedRing); ok {
		return ringFormat
	}
	return format
}

func lastLine(text []byte) string {
	return fmt.Sprintf("  \"crc32c\": \"%08x\"\n}\n", crc32.Checksum(text, castagnoli))
}
