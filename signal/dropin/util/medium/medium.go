// Package medium has the limit of numbers of three bytes, which prekey ids are.
package medium

// MaxValue is the largest number of three bytes.
const MaxValue uint32 = 0xFFFFFF
