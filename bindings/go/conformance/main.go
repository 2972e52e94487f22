// Conformance puts every row of policy/cases through the package: see policy/cases/README.md.
//
//	conformance CASES    prints every failed case, then `ran N cases`; exits 1 if a case failed
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

var columns = strings.Fields("name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs")

const firstAnswer = 8

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: conformance CASES")
		os.Exit(2)
	}
	runner := runner{cases: os.Args[1], engines: map[string][]*orbgate.Engine{}}
	if err := runner.run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	if runner.failed > 0 {
		fmt.Println(runner.failed, "failed")
	}
	fmt.Println("ran", runner.ran, "cases")
	if runner.failed > 0 || runner.ran == 0 {
		os.Exit(1)
	}
}

type runner struct {
	cases       string
	engines     map[string][]*orbgate.Engine
	ran, failed int
}

func (r *runner) run() error {
	paths, err := filepath.Glob(filepath.Join(r.cases, "*.tsv"))
	for _, path := range paths {
		if err := r.file(path); err != nil {
			return err
		}
	}
	return err
}

func (r *runner) file(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	header := false
	names := map[string]bool{}
	for number, line := range strings.Split(string(text), "\n") {
		location := fmt.Sprintf("%s:%d", filepath.Base(path), number+1)
		if line == "" || !header && line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "\t")
		switch {
		case len(cells) != len(columns):
			return fmt.Errorf("%s: not %d cells", location, len(columns))
		case !header && !slices.Equal(cells, columns):
			return fmt.Errorf("%s: not the header row", location)
		case !header:
			header = true
			continue
		case names[cells[0]]:
			return fmt.Errorf("%s: the name is taken", location)
		}
		names[cells[0]] = true
		if err := r.row(location, cells); err != nil {
			return fmt.Errorf("%s: %w", location, err)
		}
	}
	return nil
}

func (r *runner) row(location string, cells []string) error {
	engines, err := r.load(cells[1])
	if err != nil {
		return err
	}
	for _, engine := range engines {
		if err := r.judge(location, cells, engine); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) judge(location string, cells []string, engine *orbgate.Engine) error {
	decisions, err := decide(engine, cells)
	if err != nil {
		return err
	}
	about := ""
	if cells[4] == "" {
		if about, err = aboutOf(engine, cells); err != nil {
			return err
		}
	}
	failed := false
	for _, decision := range decisions {
		if decision.About() != about {
			fmt.Printf("%s: %s: it is about `%s`, not `%s`\n", location, cells[0], decision.About(), about)
			failed = true
		}
		found, err := answer(decision)
		if err != nil {
			return err
		}
		for column, cell := range cells[firstAnswer:] {
			if found[column] != cell {
				fmt.Printf("%s: %s: %s is `%s`, not `%s`\n", location, cells[0], columns[firstAnswer+column], found[column], cell)
				failed = true
			}
		}
	}
	r.ran++
	if failed {
		r.failed++
	}
	return nil
}

// The engines of a policy; the specification's policy has two: read from its file, and compiled in.
func (r *runner) load(name string) ([]*orbgate.Engine, error) {
	if engines, loaded := r.engines[name]; loaded {
		return engines, nil
	}
	path := filepath.Join(r.cases, "policies", name+".yaml")
	var engines []*orbgate.Engine
	if name == "external" {
		path = filepath.Join(r.cases, "..", "external.yaml")
		compiledIn, err := orbgate.External()
		if err != nil {
			return nil, err
		}
		engines = append(engines, compiledIn)
	}
	read, err := orbgate.FromFile(path)
	r.engines[name] = append(engines, read)
	return r.engines[name], err
}

// The decisions of a row, which must all be the same: with its scopes as text and interned, one by one and in a batch.
func decide(engine *orbgate.Engine, cells []string) ([]orbgate.Decision, error) {
	var texts [4]string
	for index, cell := range []string{cells[2], cells[3], cells[4], cells[6]} {
		text, err := unescape(cell)
		if err != nil {
			return nil, err
		}
		texts[index] = text
	}
	method, target, byScope, scopes := texts[0], texts[1], texts[2], texts[3]
	var options []orbgate.Option
	if cells[7] == "yes" {
		options = append(options, orbgate.AllowBonusOrbs)
	}
	set, err := engine.ScopeSet(scopes)
	if err != nil {
		return nil, err
	}
	kind := orbgate.TokenKindOf(cells[5])
	tokens := []orbgate.Token{{Kind: kind, Scopes: scopes}, {Kind: kind, ScopeSet: set}}
	if cells[5] == "" {
		tokens = []orbgate.Token{orbgate.NoToken()}
	}
	var decisions []orbgate.Decision
	var batch orbgate.Batch
	for _, token := range tokens {
		if byScope != "" {
			decisions = append(decisions, engine.DecideScope(byScope, token, options...))
		} else {
			decisions = append(decisions, engine.Decide(method, target, token, options...))
			batch.Add(method, target, token, options...)
		}
	}
	return engine.DecideBatch(decisions, &batch)
}

// The route that a request is about: the one that it is decided by when its token is some user's.
func aboutOf(engine *orbgate.Engine, cells []string) (string, error) {
	method, err := unescape(cells[2])
	if err != nil {
		return "", err
	}
	target, err := unescape(cells[3])
	if err != nil {
		return "", err
	}
	decision := engine.Decide(method, target, orbgate.UserToken(""))
	if decision.Scope() == "" {
		return "", nil
	}
	return decision.Route(), nil
}

// The cells of a decision, from `decision` to `orbs`.
func answer(decision orbgate.Decision) ([]string, error) {
	words, err := decision.Words()
	if err != nil {
		return nil, err
	}
	status := ""
	if !decision.IsAllow() {
		status = strconv.Itoa(decision.HTTPStatus())
	}
	if code := decision.Reason().String(); code != words.Reason {
		return nil, fmt.Errorf("the reason is %s and %s", code, words.Reason)
	}
	if code := decision.Detail().String(); code != words.Detail {
		return nil, fmt.Errorf("the detail is %s and %s", code, words.Detail)
	}
	return []string{words.Decision, status, words.Reason, words.Detail, words.API, words.Route, words.Scope, orbs(decision)}, nil
}

func orbs(decision orbgate.Decision) string {
	charge, stated := decision.Charge()
	if !stated {
		return ""
	}
	text := "unstated"
	if charge.AmountStated {
		text = strconv.FormatUint(charge.Amount, 10)
	}
	if charge.BonusAllowed {
		text += " bonus"
	}
	if charge.Consumes {
		return text
	}
	if text == "0" {
		return "free"
	}
	return "free, but " + text
}

// `\xNN` is a byte and `\\` a backslash.
func unescape(cell string) (string, error) {
	var text strings.Builder
	for {
		plain, rest, escaped := strings.Cut(cell, `\`)
		text.WriteString(plain)
		switch {
		case !escaped:
			return text.String(), nil
		case strings.HasPrefix(rest, `\`):
			text.WriteByte('\\')
			cell = rest[1:]
		case strings.HasPrefix(rest, "x") && len(rest) >= 3:
			value, err := strconv.ParseUint(rest[1:3], 16, 8)
			if err != nil {
				return "", err
			}
			text.WriteByte(byte(value))
			cell = rest[3:]
		default:
			return "", fmt.Errorf("bad escape in `%s`", cell)
		}
	}
}
