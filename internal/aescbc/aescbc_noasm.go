//go:build !amd64 || purego

package aescbc

func init() { operations() }

func encrypt(b []byte, key *[32]byte, iv *[16]byte) { encryptGeneric(b, key, iv) }

func decrypt(dst, src []byte, key *[32]byte, iv *[16]byte) { decryptGeneric(dst, src, key, iv) }

func encryptPair(b0, b1 []byte, key0, key1 *[32]byte, iv0, iv1 *[16]byte) {
	encryptPairGeneric(b0, b1, key0, key1, iv0, iv1)
}
