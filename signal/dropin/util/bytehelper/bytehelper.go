// Package bytehelper converts between slices and arrays.
package bytehelper

import "errors"

// SliceToArray returns the first 32 bytes, with zeros for what is missing.
func SliceToArray(bytes []byte) (out [32]byte) {
	copy(out[:], bytes)
	return out
}

// SliceToArray64 returns the first 64 bytes, with zeros for what is missing.
func SliceToArray64(bytes []byte) (out [64]byte) {
	copy(out[:], bytes)
	return out
}

// ArrayToSlice returns the bytes in a slice of their own.
func ArrayToSlice(bytes [32]byte) []byte { return bytes[:] }

// ArrayToSlice64 returns the bytes in a slice of their own.
func ArrayToSlice64(bytes [64]byte) []byte { return bytes[:] }

// CopySlice returns a copy of the bytes.
func CopySlice(bytes []byte) []byte { return append(make([]byte, 0, len(bytes)), bytes...) }

// Split returns the first firstLength and the next secondLength bytes. Input that
// is too short gives nil.
func Split(input []byte, firstLength, secondLength int) [][]byte {
	if firstLength < 0 || secondLength < 0 || len(input)-firstLength < secondLength {
		return nil
	}
	return [][]byte{input[:firstLength], input[firstLength : firstLength+secondLength]}
}

// SplitThree returns three parts of these lengths, or an error if the input is
// too short or a length is negative.
func SplitThree(input []byte, firstLength, secondLength, thirdLength int) ([][]byte, error) {
	if input == nil || firstLength < 0 || secondLength < 0 || thirdLength < 0 ||
		len(input) < firstLength+secondLength+thirdLength {
		return nil, errors.New("input too small")
	}
	second := firstLength + secondLength
	return [][]byte{input[:firstLength], input[firstLength:second], input[second : second+thirdLength]}, nil
}

// Trim returns a copy of the first length bytes, or of all if there are fewer.
func Trim(input []byte, length int) []byte {
	return CopySlice(input[:max(0, min(length, len(input)))])
}

// Bytes5ToInt64 returns the big-endian number of the five bytes at offset, 0 if
// they are not there.
func Bytes5ToInt64(bytes []byte, offset int) int64 {
	if offset < 0 || len(bytes)-offset < 5 {
		return 0
	}
	n := int64(0)
	for _, b := range bytes[offset : offset+5] {
		n = n<<8 | int64(b)
	}
	return n
}
