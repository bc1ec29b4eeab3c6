package main

import (
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/signal"
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

func exported(f signal.RecordFormat, data []byte) answer {
	return answer{"format": f, "data": hexBytes(data)}
}

func init() {
	formats = append(formats, string(signal.FormatSigcore), string(signal.FormatSignalProtobuf))
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
		data, err := a.ExportSession(ctx, addr, f)
		return exported(f, data), err
	})
	register("session_import", func(p *peer, r *struct {
		talk
		Format string
		Data   *hexBytes
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
		if r.Data == nil {
			return nil, missing("data")
		}
		return nil, a.ImportSession(ctx, addr, f, *r.Data)
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
		f, err := parseFormat(r.Format)
		if err != nil {
			return nil, err
		}
		data, err := a.ExportSenderKey(ctx, name, f)
		return exported(f, data), err
	})
	register("gk_import", func(p *peer, r *struct {
		groupTalk
		Format string
		Data   *hexBytes
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		f, err := parseFormat(r.Format)
		if err != nil {
			return nil, err
		}
		if r.Data == nil {
			return nil, missing("data")
		}
		return nil, a.ImportSenderKey(ctx, name, f, *r.Data)
	})
}
