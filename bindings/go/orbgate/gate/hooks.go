package gate

import (
	"context"
	"fmt"
	"log/slog"
)

// Calls a function of the configuration. If it panics or fails, logs that once for each name, and continues.
func (g *Gate) guarded(name string, call func() error) error {
	err := caught(call)
	if err != nil {
		g.once("gate.Config."+name+" failed", "error", err)
	}
	return err
}

// Calls what isn't the gate's. A panic is an error.
func caught(call func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return call()
}

// Logs an error once.
func (g *Gate) once(message string, values ...any) {
	if _, isLogged := g.logged.LoadOrStore(message, true); !isLogged {
		g.config.Logger.Error(message, values...)
	}
}

// A log handler that never panics.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) (isEnabled bool) {
	defer func() { _ = recover() }()
	return q.Handler.Enabled(ctx, level)
}

func (q quiet) Handle(ctx context.Context, record slog.Record) (err error) {
	defer func() { _ = recover() }()
	return q.Handler.Handle(ctx, record)
}
