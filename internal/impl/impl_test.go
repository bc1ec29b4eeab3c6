package impl

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// machine with every tier, and with those that lack names a reason for.
func withAssembly(lacks map[string]string) machine {
	return machine{assembly: true, reason: func(tier string) string { return lacks[tier] }}
}

func TestSelectAndReset(t *testing.T) {
	var r registry
	ifma, mulx, second, adx, foreign := true, true, true, false, true
	r.register("curve", "ifma", &ifma, false)
	r.register("curve", "mulx", &mulx, false)
	r.register("curve", "mulx", &second, false)
	r.register("curve", "adx", &adx, false)
	r.register("field", "mulx", &foreign, false)

	if got := r.list("curve"); !slices.Equal(got, []string{"ifma", "mulx", "adx"}) {
		t.Errorf("list = %v", got)
	}
	for _, tc := range []struct {
		name                    string
		ok                      bool
		ifma, mulx, second, adx bool
	}{
		{"mulx", true, false, true, true, false},
		{"ifma", true, true, false, false, false},
		{"adx", false, false, false, false, false}, // not available: never turned on
		{"", true, false, false, false, false},
		{"sse", false, false, false, false, false},
	} {
		if ok := r.choose("curve", tc.name); ok != tc.ok {
			t.Errorf("choose(%q) = %v", tc.name, ok)
		}
		if got, want := [...]bool{ifma, mulx, second, adx}, [...]bool{tc.ifma, tc.mulx, tc.second, tc.adx}; got != want {
			t.Errorf("after choose(%q): %v, want %v", tc.name, got, want)
		}
		if !foreign {
			t.Errorf("choose(%q) has changed another package", tc.name)
		}
		r.reset("curve")
		if got, want := [...]bool{ifma, mulx, second, adx}, [...]bool{true, true, true, false}; got != want {
			t.Errorf("after reset: %v, want %v", got, want)
		}
	}
}

// One kernel of a set that may not run makes the set incomplete.
func TestSelectIncompleteSet(t *testing.T) {
	var r registry
	a, b := true, true
	r.register("curve", "mulx", &a, false)
	r.register("curve", "mulx", &b, false)
	r.demote(&b, "wrong")
	if r.choose("curve", "mulx") || !a || b {
		t.Errorf("a, b = %v, %v", a, b)
	}
	r.reset("curve")
	if !a || b {
		t.Errorf("after reset: a, b = %v, %v; a demoted kernel stays off", a, b)
	}
}

func TestSelectStatic(t *testing.T) {
	var r registry
	ifma, mulx, slow := true, true, true
	r.register("curve", "ifma", &ifma, false)
	r.register("curve", "mulx", &mulx, true)
	r.register("curve", "sse", &slow, false)
	r.operation("curve", "X25519", []*bool{&ifma, &mulx})
	r.operation("curve", "Select", []*bool{&mulx, &slow})
	for name, want := range map[string]bool{
		"ifma": true,  // comes before the static kernel
		"mulx": true,  // is the static kernel
		"sse":  false, // hidden by it
		"":     false, // compiled out
	} {
		if got := r.choose("curve", name); got != want {
			t.Errorf("choose(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	const noKernel = "the operation has no kernel for it"
	one, both := []string{"mulx"}, []string{"ifma", "mulx"}
	for _, tc := range []struct {
		name       string
		ifma, mulx bool
		static     bool
		demote     string
		off        bool
		lacks      map[string]string
		want       []OperationReport
	}{
		{
			name: "all", ifma: true, mulx: true,
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "ifma"},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "mulx", NotUsed: []Reason{{"ifma", noKernel}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
		{
			name: "no ifma", mulx: true, lacks: map[string]string{"ifma": "no AVX512F"},
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "mulx", NotUsed: []Reason{{"ifma", "no AVX512F"}}},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "mulx", NotUsed: []Reason{{"ifma", noKernel}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
		{
			name: "nothing", lacks: map[string]string{"ifma": "no mulx", "mulx": "no BMI2"},
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "generic", NotUsed: []Reason{{"ifma", "no mulx"}, {"mulx", "no BMI2"}}},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", "no BMI2"}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
		{
			name: "demoted", ifma: true, mulx: true, demote: "self-test failed",
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "mulx", NotUsed: []Reason{{"ifma", "self-test failed"}}},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "mulx", NotUsed: []Reason{{"ifma", noKernel}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
		{
			name: "off", ifma: true, mulx: true, off: true,
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "generic", NotUsed: []Reason{{"ifma", "switched off by a test"}, {"mulx", "switched off by a test"}}},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", "switched off by a test"}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
		{
			name: "compiled in and refused", static: true, lacks: map[string]string{"ifma": "masked", "mulx": "masked"},
			want: []OperationReport{
				{Package: "curve", Name: "X25519", Kernels: both, Tier: "mulx", Failed: "masked", NotUsed: []Reason{{"ifma", "masked"}}},
				{Package: "curve", Name: "Sign", Kernels: one, Tier: "mulx", Failed: "masked", NotUsed: []Reason{{"ifma", noKernel}}},
				{Package: "curve", Name: "Add", Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}}},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r registry
			// Declared before registered, as the order of files may have it.
			r.operation("curve", "X25519", []*bool{&tc.ifma, &tc.mulx})
			r.operation("curve", "Sign", []*bool{&tc.mulx})
			r.operation("curve", "Add", nil)
			r.register("curve", "ifma", &tc.ifma, false)
			r.register("curve", "mulx", &tc.mulx, tc.static)
			if tc.demote != "" {
				r.demote(&tc.ifma, tc.demote)
			}
			if tc.off {
				r.choose("curve", "")
			}
			if got := r.report(withAssembly(tc.lacks)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("report\n%+v\nwant\n%+v", got, tc.want)
			}
		})
	}
}

// Operations whose code without kernels is wrong fail where it would run.
func TestReportRefused(t *testing.T) {
	var r registry
	mulx := true
	r.register("curve", "mulx", &mulx, false)
	r.operation("curve", "X25519", []*bool{&mulx})
	r.operation("curve", "ScalarMult", nil)
	r.operation("curve", "Scalar.Add", nil)
	r.operation("field", "ScalarMult", nil)
	r.refuse("curve", "wrong", []string{"X25519", "ScalarMult"})
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, o := range r.report(withAssembly(nil)) {
			got = append(got, o.Failed)
		}
		if !slices.Equal(got, want) {
			t.Errorf("failed: %q, want %q", got, want)
		}
	}
	check("", "wrong", "", "")
	r.demote(&mulx, "wrong too")
	check("wrong", "wrong", "", "")
}

func TestReportWithoutAssembly(t *testing.T) {
	var r registry
	r.operation("field", "Multiply", nil)
	r.operation("curve", "X25519", nil)
	got := r.report(machine{reason: func(string) string { return "no assembly" }})
	want := []OperationReport{
		{Package: "curve", Name: "X25519", Tier: "generic", NotUsed: []Reason{{"ifma", "no assembly"}, {"mulx", "no assembly"}}},
		{Package: "field", Name: "Multiply", Tier: "generic", NotUsed: []Reason{{"ifma", "no assembly"}, {"mulx", "no assembly"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("report\n%+v\nwant\n%+v", got, want)
	}
}

// A unit may have kernels that vary a tier, and some that belong to none.
func TestReportOtherKernels(t *testing.T) {
	var r registry
	adx, mulx, shani := false, true, false
	r.register("curve", "adx", &adx, false)
	r.register("curve", "mulx", &mulx, false)
	r.register("curve", "shani", &shani, false)
	r.operation("curve", "X25519", []*bool{&adx, &mulx})
	r.operation("curve", "Hash", []*bool{&shani})
	got := r.report(withAssembly(map[string]string{"adx": "no ADX"}))
	const noKernel = "the operation has no kernel for it"
	want := []OperationReport{
		{Package: "curve", Name: "X25519", Kernels: []string{"adx", "mulx"}, Tier: "mulx", NotUsed: []Reason{{"ifma", noKernel}, {"adx", "no ADX"}}},
		{Package: "curve", Name: "Hash", Kernels: []string{"shani"}, Tier: "generic", NotUsed: []Reason{{"ifma", noKernel}, {"mulx", noKernel}, {"shani", "its unit does not allow it"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("report\n%+v\nwant\n%+v", got, want)
	}
}

func TestFormat(t *testing.T) {
	got := format([]OperationReport{
		{Package: "curve", Name: "X25519", Tier: "mulx", NotUsed: []Reason{{"ifma", "no AVX512F"}}},
		{Package: "field", Name: "Multiply", Tier: "mulx", Failed: "masked"},
	}, []string{"sse=off"})
	const want = "SIGCORE_CPU: unknown entry \"sse=off\" removes nothing; " +
		"known are generic, mulx=off, adx=off, ifma=off, zmm=off, shani=off, aesni=off\n" +
		"curve.X25519: mulx\n\tnot ifma: no AVX512F\n" +
		"field.Multiply: mulx (fails: masked)\n"
	if got != want {
		t.Errorf("format = %q, want %q", got, want)
	}
}

func TestProgrammerErrors(t *testing.T) {
	var r registry
	toggle, other := true, true
	r.register("curve", "mulx", &toggle, false)
	r.operation("curve", "X25519", []*bool{&toggle})
	for name, f := range map[string]func(){
		"toggle twice":       func() { r.register("curve", "ifma", &toggle, false) },
		"operation twice":    func() { r.operation("curve", "X25519", nil) },
		"demoted unknown":    func() { r.demote(&other, "") },
		"unknown toggle":     func() { (&registry{operations: []operation{{"curve", "Add", []*bool{&other}}}}).report(machine{}) },
		"toggle of a cousin": func() { r.kernelsOf(operation{"field", "Add", []*bool{&toggle}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

var (
	useRegistered = true
	_             = func() int { Register("mulx", &useRegistered, false); return 0 }()
)

// The exported functions derive the package of their caller, be it an
// initialiser, a closure or a method.
func TestCallerPackage(t *testing.T) {
	Operation("Test", &useRegistered)
	if !slices.Equal(List("impl"), []string{"mulx"}) || !Known("impl") || Known("imp") {
		t.Errorf("kernel sets of impl: %v", List("impl"))
	}
	for function, want := range map[string]string{
		"github.com/sigcore/sigcore/field.init.0":              "field",
		"github.com/sigcore/sigcore/internal/kdf.init":         "kdf",
		"github.com/sigcore/sigcore/curve.(*T).F.func1":        "curve",
		"github.com/sigcore/sigcore/internal/impl.glob..func1": "impl",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("packageOf(%q) = %q, want %q", function, got, want)
		}
	}
	Refuse("wrong", "Test")
	defer func() { global.refused = nil }()
	if got := Report(); len(got) != 1 || got[0].Package != "impl" || got[0].Name != "Test" {
		t.Errorf("Report() = %+v", got)
	}
	if got := String(); !strings.Contains(got, "impl.Test: ") {
		t.Errorf("String() = %q", got)
	}
	if !Select("impl", "") || useRegistered {
		t.Error("Select has no effect")
	}
	Reset("impl")
	if !useRegistered {
		t.Error("Reset has no effect")
	}
}
