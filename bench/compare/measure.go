package main

import (
	"regexp"
	"runtime"
	"slices"
	"time"
)

const (
	// defaultRounds times roundTime times the pairs of an operation (seven at
	// most) is about three seconds, and twice that with the preparation of
	// messages.
	defaultRounds = 100
	roundTime     = 4 * time.Millisecond

	// budget is what the rounds of an operation may take: one that is longer
	// than a round is measured less often.
	budget    = 30 * time.Second
	minRounds = 7

	// observations is how often processor time is measured: the least counts,
	// which has the least of others in it. Of the write transactions the most
	// count.
	observations = 7
)

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

	// Of 640 messages: the processor time of the process for each of them, and
	// the write transactions of all.
	CPUNs   *float64 `json:"cpu_ns,omitempty"`
	WriteTx *float64 `json:"write_tx,omitempty"`
}

// pair is a contender on one tier.
type pair struct {
	contender
	tier string
	subject
	n     int
	last  time.Duration // of the calibration
	times []float64

	mallocs, bytes uint64 // over all rounds
}

// measure runs all pairs of op, a round each in turn.
func measure(op string, libs *regexp.Regexp, rounds int) ([]row, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer selectTier(defaultTier)
	var pairs []*pair
	for _, c := range contenders {
		if c.op != op || !libs.MatchString(c.lib) {
			continue
		}
		for _, t := range tiersOf(c.lib) {
			selectTier(t)
			s, err := c.setup()
			if err != nil {
				return nil, err
			}
			p := &pair{contender: c, tier: t, subject: s}
			if err := p.calibrate(); err != nil {
				return nil, err
			}
			p.mallocs, p.bytes = 0, 0
			pairs = append(pairs, p)
		}
	}
	var once time.Duration
	for _, p := range pairs {
		once += p.last
	}
	if once > roundTime*time.Duration(len(pairs)) {
		rounds = min(rounds, max(minRounds, int(budget/once)))
	}
	for range rounds {
		for _, p := range pairs {
			if err := p.round(); err != nil {
				return nil, err
			}
		}
	}
	var rows []row
	for _, p := range pairs {
		slices.Sort(p.times)
		total := float64(p.n * len(p.times) * max(1, p.size))
		r := row{
			Op: op, Lib: p.lib, Tier: p.tier, N: p.n, Rounds: len(p.times),
			NsMin: p.times[0], NsMedian: p.times[len(p.times)/2],
			Allocs: float64(p.mallocs) / total, Bytes: float64(p.bytes) / total,
		}
		if p.observe != nil {
			selectTier(p.tier)
			for range observations {
				cpu, writes, err := p.observe()
				if err != nil {
					return nil, err
				}
				if r.CPUNs == nil || cpu < *r.CPUNs {
					r.CPUNs = &cpu
				}
				if r.WriteTx == nil || writes > *r.WriteTx {
					r.WriteTx = &writes
				}
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// time runs n operations after their preparation.
func (p *pair) time(n int) (d time.Duration, err error) {
	selectTier(p.tier)
	if p.prepare != nil {
		if err := p.prepare(n); err != nil {
			return 0, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = p.run(n)
	d = time.Since(start)
	runtime.ReadMemStats(&after)
	p.mallocs += after.Mallocs - before.Mallocs
	p.bytes += after.TotalAlloc - before.TotalAlloc
	return d, err
}

// calibrate finds how many operations fill a round.
func (p *pair) calibrate() error {
	for p.n = 1; ; p.n *= 2 {
		d, err := p.time(p.n)
		if err != nil {
			return err
		}
		p.last = d
		if d > roundTime/2 {
			p.n = max(1, int(float64(p.n)*float64(roundTime)/float64(d)))
			return nil
		}
	}
}

// round times one round.
func (p *pair) round() error {
	d, err := p.time(p.n)
	p.times = append(p.times, float64(d.Nanoseconds())/float64(p.n*max(1, p.size)))
	return err
}
