package dropin

import "path/filepath"

// Whatsmeow is the module path of the client library, and the version that the
// drop-in is tried with.
const (
	Whatsmeow        = "go.mau.fi/whatsmeow"
	WhatsmeowVersion = "v0.0.0-20251217143725-11cf47c62d32"
)

// Exchange makes the module of one of both in dir, with whatsmeow over it and a
// version of the incumbent that it is to require, and builds the program that is
// one device.
func Exchange(dir string, dropin bool, version string) (m *Module, program string, err error) {
	m, err = NewModule(dir, dropin, Incumbent+" "+version, Whatsmeow+" "+WhatsmeowVersion, "modernc.org/sqlite v1.62.0")
	if err != nil {
		return nil, "", err
	}
	if err := m.Add("exchange", ".", "main"); err != nil {
		return nil, "", err
	}
	program = filepath.Join(dir, "exchange")
	_, err = m.Go("build", "-o", program, ".")
	return m, program, err
}
