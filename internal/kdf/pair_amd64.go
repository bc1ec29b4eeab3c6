//go:build !purego

package kdf

import "encoding/binary"

func seedKeysPair(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, l *Label, n int) {
	if useSHANI {
		seedKeysPairSHANI(okm0, okm1, seed0, seed1, &l.blocks, n)
	} else {
		seedKeysPairGeneric(okm0, okm1, seed0, seed1, l, n)
	}
}

func hmacPair(out0, out1, key0, key1 *[32]byte, parts0, parts1 [][]byte) {
	if useSHANI {
		hmacPairSHANI(out0, out1, key0, key1, parts0, parts1)
	} else {
		hmacPairGeneric(out0, out1, key0, key1, parts0, parts1)
	}
}

// hmacPairSHANI cuts each message into runs of blocks: whole ones where they lie,
// the rest and the padding in a buffer. It puts both runs through the rounds as
// far as they go together. All of it is one function so that nothing escapes.
func hmacPairSHANI(out0, out1, key0, key1 *[32]byte, parts0, parts1 [][]byte) {
	var state [2][2][32]byte
	hmacPadsSHANI(&state[0], key0)
	hmacPadsSHANI(&state[1], key1)
	var (
		parts = [2][][]byte{parts0, parts1}
		rest  [2][]byte                      // of the part that is next
		run   [2][]byte                      // blocks to hash, none at the end
		buf   [2][2 * blockSize]byte         // what lies in more than one part
		held  [2]int                         // bytes in buf that no run has
		total = [2]int{blockSize, blockSize} // bytes of the message, with the pad of the key
		ended [2]bool
	)
	for {
		for i := range 2 {
			for len(run[i]) == 0 && !ended[i] {
				b := &buf[i]
				switch {
				case len(rest[i]) == 0 && len(parts[i]) > 0:
					rest[i], parts[i] = parts[i][0], parts[i][1:]
					total[i] += len(rest[i])
				case len(rest[i]) == 0:
					b[held[i]] = 0x80
					end := blockSize
					if held[i]+1+8 > blockSize {
						end *= 2
					}
					clear(b[held[i]+1 : end-8])
					binary.BigEndian.PutUint64(b[end-8:], 8*uint64(total[i]))
					run[i], ended[i] = b[:end], true
				case held[i] == 0 && len(rest[i]) >= blockSize:
					full := len(rest[i]) - len(rest[i])%blockSize
					run[i], rest[i] = rest[i][:full], rest[i][full:]
				default:
					k := copy(b[held[i]:blockSize], rest[i])
					held[i], rest[i] = held[i]+k, rest[i][k:]
					if held[i] == blockSize {
						run[i], held[i] = b[:blockSize], 0
					}
				}
			}
		}
		if n := min(len(run[0]), len(run[1])); n > 0 {
			hmacBlocksPairSHANI(&state[0][0], &state[1][0], &run[0][0], &run[1][0], n/blockSize)
			run[0], run[1] = run[0][n:], run[1][n:]
			continue
		}
		i := 0
		if len(run[0]) == 0 {
			i = 1
		}
		if len(run[i]) == 0 {
			break
		}
		hmacBlocksSHANI(&state[i][0], &run[i][0], len(run[i])/blockSize)
		run[i] = nil
	}
	hmacEndPairSHANI(out0, out1, &state[0], &state[1])
	state = [2][2][32]byte{}
	buf = [2][2 * blockSize]byte{}
}
