// Package transfer moves objects between nodes in pieces, so that no object makes a frame, a pause or an allocation of its own size.
//
// A message that writes or shows a large object (Ahead bytes or more) refers to it by a number; the object goes ahead of it on the same connection, as
// a wire stream. The sender takes no memory for it: objects are immutable, and a piece is read when there is room for it. The
// receiver (Incoming) builds the object of the pieces as they come. The protocol knows nothing of that: a message whose object did not
// come whole is as if it had been lost.
//
// What follows a large object must not overtake it: a delta that comes before the state it is made on is refused, and the
// refusal is answered with the whole state, which may take seconds each time. So what a home asks of a replica about a key whose object is
// on its way leaves behind it (Lane).
package transfer
