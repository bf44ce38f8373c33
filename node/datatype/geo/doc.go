// Package geo is the geometry of Redis' GEO commands: positions as scores of sorted sets, distances, and which scores an area may have.
//
// All of it is computed as Redis 7.0 does, operation by operation, so that replies are the same to the last digit: the earth is a sphere of one radius,
// distances are by the haversine formula, and an area is searched in up to nine boxes of a grid. Products are converted before they are added to (float64(x*y) + z): Go
// may fuse the two on some processors, and a score must be the same on all.
package geo
