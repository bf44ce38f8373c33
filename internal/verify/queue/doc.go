// Package queue judges what clients saw of a queue: was an element lost, handed out twice, invented, or handed out in the wrong order?
//
// A history is what producers and consumers did with one queue, or with a few from which consumers take whichever has something. An operation has a beginning and an
// end, which are numbers of one clock: what ended before something else began was before it, of what overlaps nobody knows. What was refused was not done; what is
// Unknown was done once, at any time after it began, or never. Each element is pushed once, and no push is repeated.
//
// There are three disciplines, which differ in when an element is gone:
//
//   - Popped (RPUSH and BLPOP): with the Take that hands it out. An element is handed out at most once. If it is missing, it was taken by a Take of unknown outcome:
//     each of these excuses as many elements as it may have taken, and no more.
//   - Moved (RPUSH and BLMOVE): a Take moves it to the worker's own list, Done (LREM) removes it from there, Return brings it back from the list of a worker
//     that is lost. It is handed out again only after it was returned, and it is never missing: an unknown Take leaves it in the list.
//   - Grouped (XADD and XREADGROUP): a Take leaves it pending with the group, Done (XACK) ends that, Claim (XAUTOCLAIM) hands it out again. It is handed out as new
//     once, claimed at most until it is done, and never missing.
//
// When all is over somebody looks what is left (Left), as often as it takes until all that was acknowledged was seen.
//
// What is judged of the order: if the push of one element ended before that of another began, then no Take that hands out the other ends before the Take of the
// first begins. Nor is a Take answered that there is nothing while an element was there all the time. Elements that were returned are beyond that: they are in front again.
package queue
