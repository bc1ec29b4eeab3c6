package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// checkRecord counts and compares with the record in the file.
func checkRecord(w io.Writer, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var old record
	if err := json.Unmarshal(text, &old); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if here := thisMachine(); !slices.Equal(here.Features, old.Features) {
		return fmt.Errorf("%s: %w", file, errOther)
	} else if here.Go != old.Go {
		fmt.Fprintf(w, "the record was made with %s, this is %s\n", old.Go, here.Go)
	}
	counts, _, err := countAll()
	if err != nil {
		return err
	}
	return compareCounts(w, old.Rows, counts)
}

// compareCounts returns errGrown if a count is more than 2 % above its record,
// and another error if the record has one that is missing.
func compareCounts(w io.Writer, old []row, counts map[task]int) error {
	grown, compared := false, 0
	recorded := map[task]bool{}
	for _, r := range old {
		if r.Instructions == 0 {
			continue
		}
		recorded[r.task] = true
		now, ok := counts[r.task]
		if !ok {
			return fmt.Errorf("%s on %s is in the record, and was not counted", r.Op, r.Tier)
		}
		compared++
		mark := ""
		if 100*now > 102*r.Instructions {
			grown, mark = true, "  GROWN"
		}
		fmt.Fprintf(w, "%-24s %-8s %9d %9d %+7.2f %%%s\n", r.Op, r.Tier, r.Instructions, now,
			100*(float64(now)/float64(r.Instructions)-1), mark)
	}
	if compared == 0 {
		return fmt.Errorf("the record has no counts")
	}
	for _, o := range operations {
		for _, tier := range countedTiers {
			if t := (task{o.name, tier}); counts[t] != 0 && !recorded[t] {
				fmt.Fprintf(w, "%-24s %-8s is not in the record\n", t.Op, t.Tier)
			}
		}
	}
	if grown {
		return errGrown
	}
	return nil
}
