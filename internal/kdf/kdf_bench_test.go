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
