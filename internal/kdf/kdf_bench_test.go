package kdf

import (
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

func benchmarkEach(b *testing.B, f func(b *testing.B)) {
	defer impl.Reset("kdf")
	for _, name := range append(impl.List("kdf"), "") {
		if !impl.Select("kdf", name) {
			continue
		}
		if name == "" {
			name = "generic"
		}
		b.Run("impl="+name, f)
	}
}

func BenchmarkChainStep(b *testing.B) {
	benchmarkEach(b, func(b *testing.B) {
		var seed, ck [32]byte
		b.ReportAllocs()
		for b.Loop() {
			ChainStep(&seed, &ck, &ck)
		}
	})
}

func BenchmarkSeedKeys96(b *testing.B) {
	l := NewLabel("WhisperMessageKeys")
	benchmarkEach(b, func(b *testing.B) {
		var seed [32]byte
		var okm [96]byte
		b.ReportAllocs()
		for b.Loop() {
			l.SeedKeys96(&okm, &seed)
		}
	})
}

func BenchmarkSeedKeys64(b *testing.B) {
	l := NewLabel("WhisperGroup")
	benchmarkEach(b, func(b *testing.B) {
		var seed [32]byte
		var okm [64]byte
		b.ReportAllocs()
		for b.Loop() {
			l.SeedKeys64(&okm, &seed)
		}
	})
}

func BenchmarkChainStepIndependent(b *testing.B) {
	benchmarkEach(b, func(b *testing.B) {
		var seed [2][32]byte
		var ck [2][32]byte
		b.ReportAllocs()
		for b.Loop() {
			ChainStep(&seed[0], &ck[0], &ck[0])
			ChainStep(&seed[1], &ck[1], &ck[1])
		}
	})
}

func BenchmarkSeedKeys96Pair(b *testing.B) {
	l := NewLabel("WhisperMessageKeys")
	benchmarkEach(b, func(b *testing.B) {
		var seed [2][32]byte
		var okm [2][96]byte
		b.ReportAllocs()
		for b.Loop() {
			l.SeedKeys96Pair(&okm[0], &okm[1], &seed[0], &seed[1])
		}
	})
}

func BenchmarkSeedKeys64Pair(b *testing.B) {
	l := NewLabel("WhisperGroup")
	benchmarkEach(b, func(b *testing.B) {
		var seed [2][32]byte
		var okm [2][64]byte
		b.ReportAllocs()
		for b.Loop() {
			l.SeedKeys64Pair(&okm[0], &okm[1], &seed[0], &seed[1])
		}
	})
}

func BenchmarkHMACPair(b *testing.B) {
	msg, ids := make([]byte, 195), make([]byte, 33)
	benchmarkEach(b, func(b *testing.B) {
		var key, out [2][32]byte
		b.ReportAllocs()
		for b.Loop() {
			HMACPair(&out[0], &out[1], &key[0], &key[1], [][]byte{ids, ids, msg}, [][]byte{ids, ids, msg})
		}
	})
}

func BenchmarkHMAC(b *testing.B) {
	msg, ids := make([]byte, 195), make([]byte, 33)
	benchmarkEach(b, func(b *testing.B) {
		var key, out [32]byte
		b.ReportAllocs()
		for b.Loop() {
			HMAC(&out, &key, ids, ids, msg)
		}
	})
}
