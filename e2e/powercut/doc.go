// Package powercut shows what a power cut does to a cluster. Each node keeps its data on
// a disk of its own: an ext4 file system in an image file, mounted through a loop device. At a random
// moment, under load, all nodes are stopped and the images are copied as they are, mounted: such a copy
// has what was written to the disk, but nothing of what only the system's memory held. Nodes are then
// started on the copies, under another boot ID, and what clients were told is compared with what is there.
//
//	make powercut         or: go test ./e2e/powercut -powercut -v
//
// It needs Linux, root, mkfs.ext4 and loop devices, and skips where one of them is missing.
//
// What it cannot show is a disk that forgets what it was told to flush, or tears a sector.
package powercut
