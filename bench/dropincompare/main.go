// Command dropincompare measures the drop-in against go.mau.fi/libsignal. Both
// have one module path: it builds one program twice, and runs the two in turn.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/sigcore/sigcore/bench/dropin"
	"github.com/sigcore/sigcore/internal/cpu"
)

var operations = []string{
	"keygen", "agreement", "sign", "verify", "session_initiate_encrypt", "dm_encrypt_json", "dm_decrypt_json",
	"dm_decrypt_json_40archived", "dm_decrypt_json_2000skipped", "group_encrypt_json", "group_decrypt_json",
}

// roundTime is how long a round of one operation takes, in nanoseconds.
const roundTime = 4e6

// row is one line of the output. All nanoseconds are of a single operation.
type row struct {
	Op       string  `json:"op"`
	Lib      string  `json:"lib"`
	Tier     string  `json:"tier"`
	N        int     `json:"n"`
	Rounds   int     `json:"rounds"`
	NsMin    float64 `json:"ns_min"`
	NsMedian float64 `json:"ns_median"`
	Allocs   float64 `json:"allocs"`
	Bytes    float64 `json:"bytes"`
}

func main() {
	ops := flag.String("ops", "", "operations to run, a regular expression (default all)")
	rounds := flag.Int("rounds", 60, "rounds of each")
	asJSON := flag.Bool("json", false, "one JSON object a line instead of a table")
	flag.Parse()
	if err := run(os.Stdout, *ops, *rounds, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "dropincompare:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, ops string, rounds int, asJSON bool) error {
	pattern, err := regexp.Compile(ops)
	if err != nil {
		return err
	}
	if rounds < 1 {
		return fmt.Errorf("%d rounds", rounds)
	}
	dir, err := os.MkdirTemp("", "dropincompare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	workers := []*worker{{lib: "mau"}, {lib: "dropin"}}
	for _, wk := range workers {
		program, err := dropin.Worker(filepath.Join(dir, wk.lib), wk.lib == "dropin")
		if err != nil {
			return err
		}
		if err := wk.start(program); err != nil {
			return err
		}
		defer wk.stop()
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	out := json.NewEncoder(w)
	if !asJSON {
		fmt.Fprintln(table, "operation\tlibrary\tns min\tns median\tallocs\tbytes\tratio\t")
	}
	found := false
	for _, op := range operations {
		if !pattern.MatchString(op) {
			continue
		}
		found = true
		rows, err := measure(workers, op, rounds)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if asJSON {
				err = out.Encode(r)
			} else {
				_, err = fmt.Fprintf(table, "%s\t%s\t%.0f\t%.0f\t%.1f\t%.0f\t%.3f\t\n",
					r.Op, r.Lib, r.NsMin, r.NsMedian, r.Allocs, r.Bytes, r.NsMedian/rows[0].NsMedian)
			}
			if err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no operation matches %q", ops)
	}
	if asJSON {
		return out.Encode(map[string]any{"cpu": cpu.Brand(), "go": runtime.Version(), "gomaxprocs": runtime.GOMAXPROCS(0)})
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s; %s\n", cpu.Brand(), runtime.Version())
	return err
}

// A worker is a process that runs operations of one library.
type worker struct {
	lib string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader

	n             int
	times         []float64
	allocs, bytes float64
}

func (w *worker) start(program string) (err error) {
	w.cmd = exec.Command(program)
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.out = bufio.NewReader(out)
	w.cmd.Stderr = os.Stderr
	return w.cmd.Start()
}

func (w *worker) stop() {
	_ = w.in.Close() // which ends it
	_ = w.cmd.Wait()
}

// time runs an operation n times.
func (w *worker) time(op string, n int) (ns, allocs, bytes float64, err error) {
	if _, err = fmt.Fprintln(w.in, op, n); err != nil {
		return 0, 0, 0, err
	}
	for {
		line, err := w.out.ReadString('\n')
		if err != nil {
			return 0, 0, 0, fmt.Errorf("%s %s: %w", w.lib, op, err)
		}
		// The incumbent logs to the standard output.
		if k, err := fmt.Sscan(line, &ns, &allocs, &bytes); err == nil && k == 3 {
			return ns, allocs, bytes, nil
		}
	}
}

func measure(workers []*worker, op string, rounds int) ([]row, error) {
	for _, w := range workers {
		w.times, w.allocs, w.bytes = nil, 0, 0
		for w.n = 1; ; w.n *= 2 {
			ns, _, _, err := w.time(op, w.n)
			if err != nil {
				return nil, err
			}
			if ns > roundTime/2 {
				w.n = max(1, int(float64(w.n)*roundTime/ns))
				break
			}
		}
	}
	for range rounds {
		for _, w := range workers {
			ns, allocs, bytes, err := w.time(op, w.n)
			if err != nil {
				return nil, err
			}
			w.times = append(w.times, ns/float64(w.n))
			w.allocs += allocs
			w.bytes += bytes
		}
	}
	var rows []row
	for _, w := range workers {
		slices.Sort(w.times)
		total := float64(w.n * rounds)
		rows = append(rows, row{
			Op: op, Lib: w.lib, Tier: "default", N: w.n, Rounds: rounds,
			NsMin: w.times[0], NsMedian: w.times[rounds/2], Allocs: w.allocs / total, Bytes: w.bytes / total,
		})
	}
	return rows, nil
}
