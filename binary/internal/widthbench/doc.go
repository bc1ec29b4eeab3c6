// Package widthbench measures encoding and decoding of messages to many
// devices by their number, in both shapes: payloads of established sessions
// (msg) and of first messages (pkmsg). It is a package of its own so that its
// nodes cannot move another benchmark.
package widthbench
