//go:build !purego

package kdf

import "encoding/binary"

// hmacSHANI cuts the parts into blocks for the kernels: whole ones where they
// lie, the rest in a buffer.
func hmacSHANI(out, key *[32]byte, parts [][]byte) {
	var state [2][32]byte
	hmacPadsSHANI(&state, key)
	var buf [2 * blockSize]byte
	n, total := 0, blockSize
	for _, p := range parts {
		total += len(p)
		if n > 0 {
			c := copy(buf[n:blockSize], p)
			p = p[c:]
			if n += c; n < blockSize {
				continue
			}
			hmacBlocksSHANI(&state[0], &buf[0], 1)
			n = 0
		}
		if full := len(p) / blockSize; full > 0 {
			hmacBlocksSHANI(&state[0], &p[0], full)
			p = p[full*blockSize:]
		}
		n = copy(buf[:], p)
	}
	buf[n] = 0x80
	end := blockSize
	if n+1+8 > blockSize {
		end *= 2
	}
	clear(buf[n+1 : end-8])
	binary.BigEndian.PutUint64(buf[end-8:], 8*uint64(total))
	hmacBlocksSHANI(&state[0], &buf[0], end/blockSize)
	hmacEndSHANI(out, &state)
	clear(state[:])
	clear(buf[:])
}
