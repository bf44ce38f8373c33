package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// FrameType is the first byte of a payload and says what the body is.
type FrameType byte

// The transport's own frames.
const (
	frameGreeting FrameType = 1 + iota
	frameHello
	frameRefused
	frameReady
	framePing
	framePong
	frameLeaving
	frameLeft
	frameWorking
	framePart
	frameMark
	frameTaken

	// FirstFrameType is the lowest type that users of the transport may give a meaning.
	FirstFrameType FrameType = 16
)

const (
	headerSize = 4 + 4 // length, checksum
	prefixSize = 1 + 4 // type, stamp: the least a payload has
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BeginFrame appends the start of a frame to dst, stamped with the current time.
// The caller appends the body and calls EndFrame with what len(dst) was before.
// A finished frame may be sent to several peers.
func BeginFrame(dst []byte, typ FrameType) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, byte(typ))
	return binary.LittleEndian.AppendUint32(dst, millis())
}

// EndFrame completes the frame that begins at start and ends with dst.
func EndFrame(dst []byte, start int) []byte {
	frame := dst[start:]
	payload := frame[headerSize:]
	binary.LittleEndian.PutUint32(frame, uint32(len(payload)))
	if len(payload) <= wholeSize { // parts have checksums of their own
		binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(payload, castagnoli))
	}
	return dst
}

// appendFrame appends a whole frame.
func appendFrame(dst []byte, typ FrameType, body []byte) []byte {
	start := len(dst)
	dst = BeginFrame(dst, typ)
	dst = append(dst, body...)
	return EndFrame(dst, start)
}

// checkFrames returns an error unless frames is a sequence of users' frames whose
// payloads have at most limit bytes: the peer would cut the connection for less.
func checkFrames(frames []byte, limit int) error {
	for len(frames) > 0 {
		if len(frames) < headerSize+prefixSize {
			return fmt.Errorf("%w: to be sent, %d bytes where a frame begins", ErrFrame, len(frames))
		}
		length := int64(binary.LittleEndian.Uint32(frames))
		if length < prefixSize || length > int64(len(frames)-headerSize) {
			return fmt.Errorf("%w: to be sent, without EndFrame or longer than 4 GiB", ErrFrame)
		}
		if length > int64(limit) {
			return fmt.Errorf("%w: %d bytes to be sent, the limit is %d", ErrTooLarge, length, limit)
		}
		if typ := FrameType(frames[headerSize]); typ < FirstFrameType {
			return fmt.Errorf("%w: to be sent, type %d is reserved", ErrFrame, typ)
		}
		frames = frames[headerSize+length:]
	}
	return nil
}
