//go:build !purego

package curve

import (
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
)

// By name, and so also where a build has compiled the choice in.
func TestSelectAVX2(t *testing.T) {
	if !cpu.MULX {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required: " + cpu.Reason("mulx"))
		}
		t.Skip(cpu.Reason("mulx"))
	}
	testSelect(t, selectAVX2)
	for digit := int64(-8); digit <= 8; digit++ {
		for i := range fixedBaseTable {
			var got, want [3][5]uint64
			selectAVX2(&got[0], &got[1], &got[2], &fixedBaseTable[i], digit)
			selectGeneric(&want[0], &want[1], &want[2], &fixedBaseTable[i], digit)
			if got != want {
				t.Fatalf("row %d, digit %d: limbs %x, those of the twin %x", i, digit, got, want)
			}
		}
	}
	if !selfTestAVX2() {
		t.Error("the self-test fails")
	}
}
