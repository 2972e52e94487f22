#!/usr/bin/env bash
# Reviews the policy of the work tree against that of a commit: the steps of action.yml, for any machine.
#
# Reads POLICY, BASE, and if wanted ORBGATE, TESTS, ALLOW_WIDER. Writes the page to GITHUB_STEP_SUMMARY, and the names of
# the page and of the SARIF log to GITHUB_OUTPUT. Exits as `orbgate review` does.
set -euo pipefail

orbgate=${ORBGATE:-orbgate}
folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/orbgate.XXXXXX")
old=$folder/old.yaml page=$folder/review.md sarif=$folder/lint.sarif

if [ ! -f "$POLICY" ]; then
  echo "error: there is no policy file \`$POLICY\`" >&2
  exit 2
fi
# The first push of a branch has no commit before it.
if [[ $BASE =~ ^0*$ ]]; then
  echo "error: there is no commit to compare with: say it with \`base\`" >&2
  exit 2
fi
if ! git rev-parse --verify --quiet --end-of-options "$BASE^{commit}" > "$folder/base"; then
  echo "error: commit \`$BASE\` is not here: check out with \`fetch-depth: 0\`" >&2
  exit 2
fi
commit=$(< "$folder/base")
if git cat-file -e "$commit:./$POLICY" 2> "$folder/why"; then
  git show "$commit:./$POLICY" > "$old"
elif git ls-tree "$commit" > "$folder/tree"; then
  # A new policy: nothing was allowed before it.
  printf 'orbgate: 1\napis: {}\n' > "$old"
else
  cat "$folder/why" >&2
  exit 2
fi

arguments=(--markdown)
if [ -n "${TESTS:-}" ]; then arguments+=(--tests="$TESTS"); fi
if [ "${ALLOW_WIDER:-false}" = true ]; then arguments+=(--allow-wider); fi
code=0
"$orbgate" review "${arguments[@]}" -- "$old" "$POLICY" > "$page" || code=$?
cat "$page" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"

# Findings are no failure here: the review has counted them.
lint=0
"$orbgate" lint --sarif -- "$POLICY" > "$sarif" || lint=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "page=$page" >> "$GITHUB_OUTPUT"
  if [ "$lint" -lt 2 ]; then echo "sarif=$sarif" >> "$GITHUB_OUTPUT"; fi
fi
exit "$code"
