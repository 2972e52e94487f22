#!/usr/bin/env bash
# Reviews the policy of the work tree against that of a commit: the steps of action.yml, for any machine.
#
# Reads POLICY, BASE, and if wanted ORBGATE, TESTS, ALLOW_WIDER, FAIL_ON, LEVELS, ONLY_NEW. Writes the page to
# GITHUB_STEP_SUMMARY or else to standard output, and the names of the page and of the SARIF log to GITHUB_OUTPUT if it is
# set. Exits as `orbgate review` does, and with 1 where the policy is deleted.
set -euo pipefail

orbgate=${ORBGATE:-orbgate}
folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/orbgate.XXXXXX")
# The steps after this one read what GITHUB_OUTPUT names.
if [ -z "${GITHUB_OUTPUT:-}" ]; then trap 'rm -rf "$folder"' EXIT; fi
old=$folder/old.yaml page=$folder/review.md sarif=$folder/lint.sarif new=$POLICY

# On one line: in a log of GitHub a line of its own may be a command, and files may be called anything.
stop() {
  echo "error: ${1//[$'\n\r']/ }" >&2
  exit 2
}

# A link may lead out of the repository, and the page would quote what is there.
refuse_links() {
  local path=$1
  while [ "$path" != . ] && [ "$path" != / ]; do
    if [ -L "$path" ]; then stop "\`$path\` is a symbolic link, which is not followed"; fi
    path=$(dirname -- "$path")
  done
}

# The name that the policy has in the commit, if it was renamed since.
former_name() {
  local status was now
  git diff --relative --find-renames --diff-filter=R --name-status -z "$commit" > "$folder/renamed"
  while IFS= read -r -d '' status && IFS= read -r -d '' was && IFS= read -r -d '' now; do
    if [ "$now" = "$POLICY" ]; then echo "$was"; fi
  done < "$folder/renamed"
}

refuse_links "$POLICY"
refuse_links "${TESTS:-.}"
# The first push of a branch has no commit before it.
if [[ $BASE =~ ^0*$ ]]; then stop 'there is no commit to compare with: say it with `base`'; fi
if ! git rev-parse --verify --quiet --end-of-options "$BASE^{commit}" > "$folder/base"; then
  stop "commit \`$BASE\` is not here: check out with \`fetch-depth: 0\`"
fi
commit=$(< "$folder/base")
nothing='orbgate: 1
apis: {}'
title=
if git cat-file -e "$commit:./$POLICY" 2> "$folder/why"; then
  git cat-file blob "$commit:./$POLICY" > "$old"
  if [ ! -f "$POLICY" ]; then
    # Deleted: nothing is allowed any more.
    new=$folder/deleted.yaml title='**The policy is deleted.**'
    echo "$nothing" > "$new"
  fi
elif [ ! -f "$POLICY" ]; then
  stop "there is no policy file \`$POLICY\`"
elif git ls-tree "$commit" > "$folder/tree"; then
  was=$(former_name)
  if [ -n "$was" ]; then
    git cat-file blob "$commit:./$was" > "$old"
  else
    # A new policy: nothing was allowed before it.
    echo "$nothing" > "$old"
  fi
else
  cat "$folder/why" >&2
  exit 2
fi

arguments=(--markdown)
if [ -n "${TESTS:-}" ]; then arguments+=(--tests="$TESTS"); fi
if [ "${ALLOW_WIDER:-false}" = true ]; then arguments+=(--allow-wider); fi
if [ -n "${FAIL_ON:-}" ]; then arguments+=(--fail-on="$FAIL_ON"); fi
if [ "${ONLY_NEW:-false}" = true ]; then arguments+=(--only-new); fi
levels=()
for level in ${LEVELS:-}; do levels+=(--level="$level"); done
code=0
if [ -n "$title" ]; then printf '%s\n\n' "$title" > "$page"; fi
"$orbgate" review "${arguments[@]}" ${levels[@]+"${levels[@]}"} -- "$old" "$new" >> "$page" || code=$?
if [ -n "$title" ] && [ "$code" -eq 0 ]; then code=1; fi
# Opening /dev/stdout again would write over what a file has already.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$page" >> "$GITHUB_STEP_SUMMARY"; else cat "$page"; fi

# Findings are no failure here: the review has counted them.
lint=0
"$orbgate" lint --sarif ${levels[@]+"${levels[@]}"} -- "$new" > "$sarif" || lint=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "page=$page" >> "$GITHUB_OUTPUT"
  # What is deleted has no lines to show findings at.
  if [ "$lint" -lt 2 ] && [ -z "$title" ]; then echo "sarif=$sarif" >> "$GITHUB_OUTPUT"; fi
fi
exit "$code"
