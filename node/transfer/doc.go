// Package transfer moves large values between nodes in pieces, so that none makes a frame, a pause or an allocation of its own size on the way.
//
// A message that writes or shows a large value (Ahead bytes or more: an object, or plain bytes) refers to it by a number; the value goes ahead of it on the
// same connection, as a wire stream. The sender takes no memory for it: values are immutable, and a piece is read when there is room for it. The
// receiver (Incoming) builds the value of the pieces as they come, an object of an object and bytes of bytes. The protocol knows nothing of that: a message whose value did not
// come whole is as if it had been lost.
//
// What follows a large value must not overtake it: a delta that comes before the state it is made on is refused, and the
// refusal is answered with the whole state, which may take seconds each time. So what a home asks of a replica about a key whose value is
// on its way leaves behind it (Lane).
package transfer
