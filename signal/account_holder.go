package signal

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

// holder returns what the owner of an account says about itself: a name, the
// number of the process and, where the system tells, the boot of the system, the
// namespace of process numbers and the time at which the process began, which
// together name a process for all time.
func (o *OpenOptions) holder() string {
	name := o.Holder
	if name == "" {
		name, _ = os.Hostname()
	}
	return fmt.Sprintf("%s/%s", name, thisProcess())
}

// process names a process of a system. Its printed form has no spaces.
type process struct {
	pid   int
	boot  string
	space string
	start string // in ticks since boot
}

func thisProcess() process {
	p := process{pid: os.Getpid()}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	p.boot = strings.TrimSpace(string(boot))
	p.space, _ = os.Readlink("/proc/self/ns/pid")
	p.start, _ = startOf(p.pid)
	return p
}

func (p process) String() string {
	return fmt.Sprintf("%d,%s,%s,%s", p.pid, p.boot, p.space, p.start)
}

func parseProcess(s string) (p process, ok bool) {
	f := strings.Split(s, ",")
	if len(f) != 4 {
		return p, false
	}
	n, err := strconv.Atoi(f[0])
	return process{n, f[1], f[2], f[3]}, err == nil
}

// startOf returns when a process of this namespace began. missing is set if there
// is certainly none of that number.
func startOf(pid int) (start string, missing bool) {
	// That of the first thread is that of the process, and an emulator, which makes up
	// /proc/PID/stat anew for each thread that reads it, leaves this file alone.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/stat", pid))
	if err != nil {
		return "", os.IsNotExist(err)
	}
	// The name of the program, in brackets, can hold anything.
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const field = 22 - 3 // the third one is the first behind the name
	if len(f) <= field {
		return "", false
	}
	return f[field], false
}

// dead reports whether the owner of an account was a process of this system that
// has certainly ended. Of owners elsewhere nothing is known.
func dead(o store.Owner) bool {
	p, ok := parseProcess(o.Holder[strings.LastIndexByte(o.Holder, '/')+1:])
	self := thisProcess()
	if !ok || !o.Held || p.boot == "" || p.space == "" || p.start == "" || p.boot != self.boot || p.space != self.space {
		return false
	}
	start, missing := startOf(p.pid)
	return missing || start != "" && start != p.start
}
