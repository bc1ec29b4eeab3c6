package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/sqlstore"
	"github.com/sigcore/sigcore/signal/store"
)

// ctx is the context of every operation: requests are not cancelled.
var ctx = context.Background()

// party is one account. Its name in the protocol is that of the account.
type party struct {
	*signal.Account
	backend *backend
}

// backend is a store and the parties that use it.
type backend struct {
	store.Backend
	where   string // the database as party_new names it, "" in memory
	parties int
}

// open returns the backend that a party_new names.
func (p *peer) open(where string) (*backend, error) {
	if where == "" {
		return &backend{Backend: store.NewMemory()}, nil
	}
	kind, place, _ := strings.Cut(where, ":")
	if place == "" || kind != "sqlite" && kind != "postgres" {
		return nil, fmt.Errorf("%w: store of kind %q", errBadRequest, kind)
	}
	if b := p.databases[where]; b != nil {
		return b, nil
	}
	var (
		db  store.Backend
		err error
	)
	if kind == "postgres" {
		db, err = sqlstore.OpenPostgres(ctx, place)
	} else {
		db, err = sqlstore.OpenSQLite(ctx, place)
	}
	if err != nil {
		return nil, err
	}
	b := &backend{Backend: db, where: where}
	p.databases[where] = b
	return b, nil
}

// leave drops a party; the last one of a backend closes it unless killed.
func (p *peer) leave(name string, kill bool) error {
	member := p.parties[name]
	b := member.backend
	if kill {
		// As after a crash: the next party_new opens the database anew, and takes
		// the account over from the object that was dropped.
		delete(p.parties, name)
		b.parties--
		delete(p.databases, b.where)
		p.killed[killedParty{b.where, name}] = true
		return nil
	}
	if err := member.Close(ctx); err != nil {
		return err
	}
	delete(p.parties, name)
	b.parties--
	if b.parties > 0 {
		return nil
	}
	if p.databases[b.where] == b {
		delete(p.databases, b.where)
	}
	return b.Close()
}

// killedParty names a party that was killed and its database.
type killedParty struct{ where, name string }

// account opens the account of that name, or makes it.
func account(b *backend, name string, o signal.AccountOptions) (*signal.Account, error) {
	a, err := signal.OpenAccount(ctx, b, name, o.OpenOptions)
	if errors.Is(err, store.ErrNoAccount) {
		return signal.CreateAccount(ctx, b, name, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Identity != nil && a.Identity().PublicKey() != o.Identity.PublicKey() {
		return nil, fmt.Errorf("%w: the stored account has another identity", errBadRequest)
	}
	return a, nil
}

// member is the part of a request that names a party.
type member struct{ Party string }

func (m *member) of(p *peer) (*party, error) {
	if found := p.parties[m.Party]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%w: no party %q", errBadRequest, m.Party)
}

func identity(priv hexBytes) (*signal.IdentityKeyPair, error) {
	if priv == nil {
		return nil, nil
	}
	key, err := curve.NewPrivateKey(priv)
	if err != nil {
		return nil, err
	}
	return signal.NewIdentityKeyPair(key), nil
}

func taggedKey(k signal.PublicKey) hexBytes {
	b := k.Tagged()
	return b[:]
}

func init() {
	features = append(features, "signal")
	register("party_new", func(p *peer, r *struct {
		member
		IdentityPriv hexBytes `json:"identity_priv"`
		RegID        uint32   `json:"reg_id"`
		Device       uint32
		Store        string
		Durability   string
	},
	) (answer, error) {
		if r.Party == "" {
			return nil, missing("party")
		}
		var how signal.OpenOptions
		switch r.Durability {
		case "", "durable":
		case "leased":
			how.Durability = signal.Leased
		default:
			return nil, fmt.Errorf("%w: durability %q", errBadRequest, r.Durability)
		}
		key, err := identity(r.IdentityPriv)
		if err != nil {
			return nil, err
		}
		b, err := p.open(r.Store)
		if err != nil {
			return nil, err
		}
		b.parties++
		if old := p.parties[r.Party]; old != nil && old.backend == b {
			// One object gives a leased account back before the next one opens it.
			if err := p.leave(r.Party, false); err != nil {
				b.parties--
				return nil, err
			}
		}
		dropped := killedParty{b.where, r.Party}
		how.TakeOver = p.killed[dropped]
		a, err := account(b, r.Party, signal.AccountOptions{Identity: key, RegistrationID: r.RegID, OpenOptions: how})
		if err != nil {
			if b.parties--; b.parties == 0 {
				delete(p.databases, b.where)
				err = errors.Join(err, b.Close())
			}
			return nil, err
		}
		if p.parties[r.Party] != nil {
			if err := p.leave(r.Party, false); err != nil {
				return nil, err
			}
		}
		delete(p.killed, dropped)
		p.parties[r.Party] = &party{a, b}
		return answer{
			"identity_pub":  taggedKey(a.Identity().PublicKey()),
			"identity_priv": hexBytes(a.Identity().PrivateKey().Bytes()),
		}, nil
	})
	for name, kill := range map[string]bool{"party_close": false, "party_kill": true} {
		register(name, func(p *peer, r *member) (answer, error) {
			if _, err := r.of(p); err != nil {
				return nil, err
			}
			return nil, p.leave(r.Party, kill)
		})
	}
	register("trust", func(p *peer, r *struct {
		member
		Mode string
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		switch r.Mode {
		case "always":
			a.SetTrust(signal.TrustAlways)
		case "pinned":
			a.SetTrust(signal.TrustPinned)
		default:
			return nil, fmt.Errorf("%w: mode %q", errBadRequest, r.Mode)
		}
		return nil, nil
	})
}
