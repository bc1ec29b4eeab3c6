//go:build !purego

package aescbc

import "crypto/aes"

// A kernelSet is the kernels of a tier.
type kernelSet struct {
	encrypt     func(p *byte, n int, key *[32]byte, iv *[16]byte)
	encryptPair func(p0, p1 *byte, n int, key0, key1 *[32]byte, iv0, iv1 *[16]byte)
	decrypt     func(dst, src *byte, n int, key *[32]byte, iv *[16]byte)
}

var kernelsAESNI = kernelSet{encryptAESNI, encryptPairAESNI, decryptAESNI}

// selfTest reports whether the kernels give the results of crypto/aes, for two
// keys whose schedules have little in common.
func (k *kernelSet) selfTest() bool {
	var key [2][32]byte
	var iv [2][16]byte
	for i := range key[0] {
		key[0][i], key[1][i] = byte(i), 0xff-byte(i*i)
	}
	for i := range iv[0] {
		iv[0][i], iv[1][i] = byte(17*i+1), 0x80>>(i%8)
	}
	const (
		most = 2*group - 3 // two groups that overlap
		room = 2 * group * BlockSize
	)
	var text, want [2][room]byte
	for i := range text[0] {
		text[0][i], text[1][i] = byte(3*i), byte(i>>1)
	}
	for i := range want {
		block, err := aes.NewCipher(key[i][:])
		if err != nil {
			return false
		}
		want[i] = text[i]
		chain(block, want[i][:], iv[i][:])
	}
	for _, n := range []int{1, group, most} {
		size := n * BlockSize
		both, last := text, iv
		k.encryptPair(&both[0][0], &both[1][0], n, &key[0], &key[1], &last[0], &last[1])
		for i := range text {
			one := text[i]
			k.encrypt(&one[0], n, &key[i], &iv[i])
			whole := string(want[i][:size])
			if string(one[:size]) != whole || string(both[i][:size]) != whole || string(last[i][:]) != whole[size-BlockSize:] ||
				string(one[size:]) != string(text[i][size:]) || string(both[i][size:]) != string(text[i][size:]) {
				return false
			}
			if n < group {
				continue
			}
			var back [room]byte
			k.decrypt(&back[0], &want[i][0], n, &key[i], &iv[i])
			if string(back[:size]) != string(text[i][:size]) || string(back[size:]) != string(make([]byte, room-size)) {
				return false
			}
		}
	}
	return true
}
