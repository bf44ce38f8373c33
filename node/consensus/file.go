package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// The names of the files: the log, and the next one while it is being written.
const (
	fileName     = "raft"
	nextFileName = "raft.next"
)

// A file is a sequence of frames: what is made durable at once is one. The first one is there as soon as the file has its name, and holds all that was
// stored before it. So only the last frame can be torn, and only if another one is in front of it.
//
//	magic 4 | length of the payload 4 | CRC-32C of offset in the file, length and payload 4 | payload: a raftpb.Message
//
// The checksum covers the place, so nothing that is inside of a payload can be taken for a frame.
const (
	frameMagic  = 0x51724c31 // "QrL1"
	frameHeader = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func frameSum(at int64, payload []byte) uint32 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(at))
	binary.BigEndian.PutUint64(b[8:], uint64(len(payload)))
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, payload)
}

func appendFrame(b []byte, at int64, payload []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, frameMagic)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(binary.BigEndian.AppendUint32(b, frameSum(at, payload)), payload...)
}

// frameAt returns the payload of the frame at an offset; false if there is none, or not all of it.
func frameAt(data []byte, at int) ([]byte, bool) {
	b := data[at:]
	if len(b) < frameHeader || binary.BigEndian.Uint32(b) != frameMagic {
		return nil, false
	}
	n := binary.BigEndian.Uint32(b[4:])
	if uint64(n) > uint64(len(b)-frameHeader) {
		return nil, false
	}
	payload := b[frameHeader : frameHeader+int(n)]
	return payload, frameSum(int64(at), payload) == binary.BigEndian.Uint32(b[8:])
}

// readFrames returns the payloads of all frames, and where they end. It is an error if the first is not whole, or a frame comes after one that
// is not: that was no power cut.
func readFrames(data []byte) (payloads [][]byte, end int, err error) {
	for end < len(data) {
		payload, ok := frameAt(data, end)
		if !ok {
			break
		}
		payloads = append(payloads, payload)
		end += frameHeader + len(payload)
	}
	if end == 0 {
		return nil, 0, errors.New("its beginning cannot be read")
	}
	for at := end + 1; at < len(data); at++ {
		if _, ok := frameAt(data, at); ok {
			return nil, 0, fmt.Errorf("byte %d cannot be read, but what was written later, at %d, can", end, at)
		}
	}
	return payloads, end, nil
}

// fileStorage is a Storage in one file.
type fileStorage struct {
	fs    FileSystem
	id    uint64
	file  File
	first int64 // where the first frame ends
	end   int64 // where the last one does
}

// Create makes the storage of an identity that has none yet: once, before its first Group, in an empty directory. It makes it
// durable before it returns.
func Create(fs FileSystem, id uint64) (Storage, error) {
	if _, err := fs.ReadFile(fileName); !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("there is a log of a Raft group already: open it, or remove it with all that belongs to its node"))
	}
	s := &fileStorage{fs: fs, id: id}
	return s, s.replace(stored(id, nil, nil, nil))
}

// Open opens the storage of an identity. Errors wrap ErrLost if it is not there, ErrDamaged if it is not what was written: then the identity must not be
// used any more, because it would forget what it has promised. What was being written when the power failed is cut off by Start; nobody was told of it.
func Open(fs FileSystem, id uint64) (Storage, error) {
	s := &fileStorage{fs: fs, id: id}
	if _, _, err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// load reads the file, and writes it anew: its end may be torn, and a process that was killed, or whose disk failed, may have left what it had not made
// durable. From now on it counts.
func (s *fileStorage) load() ([]*pb.Message, error) {
	messages, content, err := s.read()
	if err != nil {
		return nil, err
	}
	if err := s.write(content); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return messages, nil
}

// read returns what is stored, and the bytes of it: the file without a torn end.
func (s *fileStorage) read() ([]*pb.Message, []byte, error) {
	data, err := s.fs.ReadFile(fileName)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, fmt.Errorf("%w: %w; %s", ErrLost, err, anotherLife)
	case err != nil:
		return nil, nil, err
	}
	damaged := func(err error) ([]*pb.Message, []byte, error) {
		return nil, nil, fmt.Errorf("%w: file %q: %w; %s", ErrDamaged, fileName, err, anotherLife)
	}
	payloads, end, err := readFrames(data)
	if err != nil {
		return damaged(err)
	}
	messages := make([]*pb.Message, len(payloads))
	for i, payload := range payloads {
		messages[i] = &pb.Message{}
		if err := proto.Unmarshal(payload, messages[i]); err != nil {
			return damaged(err)
		}
		if of := messages[i].GetTo(); of != s.id {
			return damaged(fmt.Errorf("it belongs to the node's life %x, this is %x", of, s.id))
		}
	}
	s.first, s.end = int64(frameHeader+len(payloads[0])), int64(end)
	return messages, data[:end], nil
}

// anotherLife is what to do about a storage that is lost.
const anotherLife = "the other voters have what it held: let the node come back with an empty directory, as a new member in its own place"

func (s *fileStorage) append(m *pb.Message) error {
	payload, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	frame := appendFrame(nil, s.end, payload)
	if _, err := s.file.WriteAt(frame, s.end); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.end += int64(len(frame))
	return nil
}

func (s *fileStorage) replace(m *pb.Message) error {
	payload, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	frame := appendFrame(nil, 0, payload)
	s.first, s.end = int64(len(frame)), int64(len(frame))
	return s.write(frame)
}

// write puts a new file in the place of the present one.
func (s *fileStorage) write(content []byte) error {
	s.close()
	f, err := s.fs.Create(nextFileName)
	if err != nil {
		return err
	}
	s.file = f
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := s.fs.Rename(nextFileName, fileName); err != nil {
		return err
	}
	return s.fs.SyncDir()
}

func (s *fileStorage) appended() int64 { return s.end - s.first }

func (s *fileStorage) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
