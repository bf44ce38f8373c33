// Package timeline draws a picture of a test run: operations per second, their latency below it on
// the same time axis, and the faults that were injected meanwhile as shaded bands. The picture is one
// SVG file without scripts or anything else beside it, so a browser shows it and so does whatever shows images.
//
// Memory is bounded, however long the run: operations are counted in intervals, and when there are too
// many of these, pairs of them become one.
package timeline
