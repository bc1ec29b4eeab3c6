package signal

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
)

// TestDead holds that only a process of this system that has ended counts as
// dead.
func TestDead(t *testing.T) {
	self := thisProcess()
	other := self
	cmd := exec.CommandContext(t.Context(), "true") // this binary cannot start itself under an emulator
	if err := cmd.Run(); err != nil {
		t.Skip("there is no program to end:", err)
	}
	other.pid = cmd.Process.Pid
	later := self
	later.start += "1"
	boot, space, unknown := other, other, other
	boot.boot += "x"
	space.space += "x"
	unknown.start = ""
	for _, c := range []struct {
		name string
		p    process
		dead bool
	}{
		{"this process", self, false},
		{"one that has ended", other, runtime.GOOS == "linux"},
		{"one before, of the same number", later, runtime.GOOS == "linux"},
		{"of another boot", boot, false},
		{"of another namespace", space, false},
		{"of an unknown start", unknown, false},
	} {
		for _, holder := range []string{"host/" + c.p.String(), c.p.String(), "a/b,c/" + c.p.String()} {
			if got := dead(store.Owner{Fence: 1, Held: true, Holder: holder}); got != c.dead {
				t.Errorf("%s (%s): %v", c.name, holder, got)
			}
			if dead(store.Owner{Fence: 1, Holder: holder}) {
				t.Errorf("%s: dead although it was released", c.name)
			}
		}
	}
	for _, holder := range []string{"", "host", "host/12", "host/,,,", "host/x,y,z,1", "/"} {
		if dead(store.Owner{Fence: 1, Held: true, Holder: holder}) {
			t.Errorf("%q is dead", holder)
		}
	}
}
