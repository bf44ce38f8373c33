package datatype

import "slices"

// maxReply bounds the replies that a few bytes may ask for: a reply travels in one frame of the peer protocol, in which there is room for
// this and what stands around it.
const maxReply = 120 << 20

// longReply is from where on room is made for a reply at once.
const longReply = 256 << 10

// bulkSize is how many bytes more a string of usual length takes in a reply than in a packed collection.
const bulkSize = 6

// roomFor returns dst with about the room that a reply needs which has some of the elements of a collection, of which it has so many strings, and so many bytes when it is
// packed. A long reply that is appended to as it comes is copied a dozen times, and leaves three times its length as garbage.
func roomFor(dst []byte, elements, of, size int) []byte {
	if of == 0 {
		return dst
	}
	size += bulkSize * of
	if elements < of {
		size = int(float64(size) / float64(of) * float64(elements))
	}
	if size < longReply {
		return dst
	}
	return slices.Grow(dst, min(size, maxReply))
}
