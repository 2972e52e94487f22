package gate

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/questions"
)

// Logs why this engine denies a call, if that is wanted. Without the query, which can have secrets in it, and without the token.
func (g *Gate) explain(engine *orbgate.Engine, answer Answer) {
	logger := g.config.Logger
	if !g.config.Debug || answer.Err != nil || answer.IsAllow() || !logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	_ = g.guarded("Debug", func() error {
		path, _, _ := strings.Cut(answer.target, "?")
		request := questions.Request{Method: answer.method, Target: path}
		reason := answer.Decision.Reason()
		switch {
		case answer.Token != nil:
			request.Token = &questions.RequestToken{Kind: answer.Token.Kind.String(), Scopes: answer.Token.Scopes}
		case reason == orbgate.ReasonInvalidToken:
			request.Token = &questions.RequestToken{Kind: orbgate.KindUnknown.String()}
		}
		explanation, err := engine.Explain(questions.ExplainArguments{Request: request})
		if err != nil {
			return err
		}
		detail := ""
		if explanation.Detail != nil {
			detail = *explanation.Detail
		}
		var explained any = explanation
		if explanation.Reason != reason.String() || detail != answer.Decision.Detail().String() {
			// A header or the query, which the explanation doesn't get, is the cause.
			explained = answer.Decision
		}
		text, err := json.Marshal(explained)
		if err == nil {
			logger.Debug("a call is denied", "method", answer.method, "path", path, "explanation", json.RawMessage(text))
		}
		return err
	})
}
