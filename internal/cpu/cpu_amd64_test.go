//go:build !purego

package cpu

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What this process reads of its own processor leads to what it has selected.
func TestDetect(t *testing.T) {
	w := Read(readLeaf, xgetbv)
	t.Logf("max leaf %#x, vendor %q, leaf 1 ECX %#x, leaf 7.0 EBX %#x, XCR0 %#x: %v",
		w.MaxLeaf, w.Vendor, w.Leaf1.ECX, w.Leaf7.EBX, w.XCR0, w.Features())
	o := opinion()
	t.Logf("second opinion: vendor %q, brand %q: %v", o.Vendor, o.Brand, o.Features)
	if w.MaxLeaf == 0 || w.Leaf1.EDX>>26&1 == 0 {
		t.Errorf("no amd64 processor: max leaf %#x, leaf 1 EDX %#x", w.MaxLeaf, w.Leaf1.EDX)
	}
	if o.Vendor != w.Vendor {
		t.Errorf("vendor is %q, the second opinion says %q", w.Vendor, o.Vendor)
	}
	if o.Features&^w.Features() != 0 {
		t.Errorf("only the second opinion sees %v", o.Features&^w.Features())
	}
	if MULX && !agree(mulxFlags, mulxFlagsGeneric) {
		t.Error("mulxFlags differs from its twin")
	}
	if ADX && !agree(adxFlags, adxFlagsGeneric) {
		t.Error("adxFlags differs from its twin")
	}
}

// Linux lists the same features where it has not been told to hide some.
func TestLinuxAgrees(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/cpuinfo")
	}
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	_, rest, ok := strings.Cut(string(text), "\nflags")
	if !ok {
		t.Skip("no flags in /proc/cpuinfo")
	}
	line, _, _ := strings.Cut(rest, "\n")
	flags := strings.Fields(line)
	w := Read(readLeaf, xgetbv)
	for bit, name := range map[Features]string{
		HasAVX: "avx", HasAVX2: "avx2", HasBMI2: "bmi2", HasADX: "adx", HasAVX512F: "avx512f", HasAVX512DQ: "avx512dq",
		HasAVX512BW: "avx512bw", HasAVX512VL: "avx512vl", HasAVX512IFMA: "avx512ifma",
		HasSSSE3: "ssse3", HasSSE41: "sse4_1", HasSHA: "sha_ni", HasAES: "aes",
	} {
		if slices.Contains(flags, name) && w.Features()&bit == 0 {
			// Emulators pass the host's list through.
			if o := opinion(); o.Features&bit == 0 {
				t.Logf("%s is in /proc/cpuinfo, and in neither CPUID reading", name)
				continue
			}
			t.Errorf("%s is in /proc/cpuinfo and not read", name)
		}
	}
}
