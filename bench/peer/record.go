package main

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

// The record formats of other libraries, which package convert reads and writes.
const (
	formatGo   = "go-json"
	formatNode = "node-json"
)

// parseFormat returns the record format of that name, sigcore's own if empty.
func parseFormat(name string) (signal.RecordFormat, error) {
	if name == "" {
		return signal.FormatSigcore, nil
	}
	if !slices.Contains(formats, name) {
		return "", fmt.Errorf("%w: record format %q", errBadRequest, name)
	}
	return signal.RecordFormat(name), nil
}

// exported answers with data: binary forms in hexadecimal, JSON as it is.
func exported(f signal.RecordFormat, data []byte) answer {
	if f == formatGo || f == formatNode {
		return answer{"format": f, "data": string(data)}
	}
	return answer{"format": f, "data": hexBytes(data)}
}

// recordData is the data of an import: JSON as text, or hexadecimal.
func recordData(f signal.RecordFormat, text *string) ([]byte, error) {
	if text == nil {
		return nil, missing("data")
	}
	if f == formatGo || f == formatNode {
		return []byte(*text), nil
	}
	data, err := hex.DecodeString(*text)
	if err != nil {
		return nil, fmt.Errorf("%w: data is not hexadecimal", errBadRequest)
	}
	return data, nil
}

// exportSession exports in any format.
func exportSession(a *party, addr signal.Address, f signal.RecordFormat) ([]byte, error) {
	if f != formatGo && f != formatNode {
		return a.ExportSession(ctx, addr, f)
	}
	data, err := a.ExportSession(ctx, addr, signal.FormatSigcore)
	if err != nil {
		return nil, err
	}
	s, err := signal.ParseSession(data)
	if err != nil {
		return nil, err
	}
	if f == formatGo {
		return convert.AppendGoSession(nil, s)
	}
	return convert.AppendNodeSession(nil, s, time.Now())
}

// importSession imports any format.
func importSession(a *party, addr signal.Address, f signal.RecordFormat, data []byte) error {
	var s *signal.Session
	var err error
	switch f {
	case formatGo:
		s, err = convert.ParseGoSession(data)
	case formatNode:
		s, err = convert.ParseNodeSession(data, a.Identity().PublicKey(), a.RegistrationID())
	default:
		return a.ImportSession(ctx, addr, f, data)
	}
	if err != nil {
		return err
	}
	if data, err = s.AppendBinary(nil); err != nil {
		return err
	}
	return a.ImportSession(ctx, addr, signal.FormatSigcore, data)
}

// senderKeyFormat parses the name of a format that sender keys have.
func senderKeyFormat(name string) (signal.RecordFormat, error) {
	if name == formatNode {
		return "", fmt.Errorf("%w: sender keys have no format %q", errBadRequest, name)
	}
	return parseFormat(name)
}

func exportSenderKey(a *party, name signal.SenderKeyName, f signal.RecordFormat) ([]byte, error) {
	if f != formatGo {
		return a.ExportSenderKey(ctx, name, f)
	}
	data, err := a.ExportSenderKey(ctx, name, signal.FormatSigcore)
	if err != nil {
		return nil, err
	}
	k, err := signal.ParseSenderKey(data)
	if err != nil {
		return nil, err
	}
	return convert.AppendGoSenderKey(nil, k)
}

func importSenderKey(a *party, name signal.SenderKeyName, f signal.RecordFormat, data []byte) error {
	if f != formatGo {
		return a.ImportSenderKey(ctx, name, f, data)
	}
	k, err := convert.ParseGoSenderKey(data)
	if err != nil {
		return err
	}
	if data, err = k.AppendBinary(nil); err != nil {
		return err
	}
	return a.ImportSenderKey(ctx, name, signal.FormatSigcore, data)
}

func init() {
	formats = append(formats, string(signal.FormatSigcore), string(signal.FormatSignalProtobuf), formatGo, formatNode)
	register("session_export", func(p *peer, r *struct {
		talk
		Format string
	},
	) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		f, err := parseFormat(r.Format)
		if err != nil {
			return nil, err
		}
		data, err := exportSession(a, addr, f)
		return exported(f, data), err
	})
	register("session_import", func(p *peer, r *struct {
		talk
		Format string
		Data   *string
	},
	) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		f, err := parseFormat(r.Format)
		if err != nil {
			return nil, err
		}
		data, err := recordData(f, r.Data)
		if err != nil {
			return nil, err
		}
		return nil, importSession(a, addr, f, data)
	})
	register("session_delete", func(p *peer, r *talk) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		return nil, a.DeleteSession(ctx, addr)
	})
	register("gk_export", func(p *peer, r *struct {
		groupTalk
		Format string
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		f, err := senderKeyFormat(r.Format)
		if err != nil {
			return nil, err
		}
		data, err := exportSenderKey(a, name, f)
		return exported(f, data), err
	})
	register("gk_import", func(p *peer, r *struct {
		groupTalk
		Format string
		Data   *string
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		f, err := senderKeyFormat(r.Format)
		if err != nil {
			return nil, err
		}
		data, err := recordData(f, r.Data)
		if err != nil {
			return nil, err
		}
		return nil, importSenderKey(a, name, f, data)
	})
}
