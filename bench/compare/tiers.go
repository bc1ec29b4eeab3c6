package main

import (
	"slices"

	"github.com/sigcore/sigcore/internal/impl"
)

// symmetric are the packages whose kernels hash and encrypt.
var symmetric = []string{"kdf", "aescbc"}

// units are the packages of sigcore that have kernels.
var units = append([]string{"field", "curve"}, symmetric...)

// defaultTier is what the process has chosen by itself, unit by unit.
const defaultTier = "default"

// tiersOf lists what lib can be measured on: sigcore on the base, on each tier
// that has a kernel and may run here, and as it is by default.
func tiersOf(lib string) []string {
	if lib != "sigcore" {
		return []string{defaultTier}
	}
	tiers := []string{}
	for _, t := range []string{"generic", "mulx", "adx", "ifma"} {
		if selectTier(t) {
			tiers = append(tiers, t)
		}
	}
	selectTier(defaultTier)
	return append(tiers, defaultTier)
}

// selectTier switches every unit to a tier: a unit without kernels of that name
// runs its base. It reports whether the tier took effect in any unit, and for
// generic in all.
func selectTier(tier string) bool {
	any, all := false, true
	for _, u := range units {
		switch {
		case tier == defaultTier, slices.Contains(symmetric, u) && tier != "generic":
			impl.Reset(u) // they have tiers of their own, which run beside the others
		case tier == "generic":
			all = impl.Select(u, "") && all
		case tier == "ifma": // it rests on mulx, which serves what it has no kernel for
			any = impl.Select(u, tier) || any
			impl.Reset(u)
		default:
			ok := impl.Select(u, tier)
			any = any || ok
			if !ok {
				impl.Select(u, "")
			}
		}
	}
	if tier == "generic" {
		return all
	}
	return any
}
