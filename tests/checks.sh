# checks.sh: for tests of commands: `ok WHAT COMMAND...` must succeed; `says WHAT CODE PATTERN COMMAND...` must end with
# this exit code and print a line with this pattern.  $dir is a folder that goes away.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
checks=0 failed=0
ok() {
    local what=$1; shift
    checks=$((checks + 1))
    if ! "$@" >"$dir/log" 2>&1; then
        failed=$((failed + 1)); echo "FAILED: $what: $*"; sed 's/^/    /' "$dir/log" | head -20
    fi
}
says() {
    local what=$1 code=$2 pattern=$3 rc; shift 3
    checks=$((checks + 1))
    "$@" >"$dir/log" 2>&1; rc=$?
    if [ $rc != "$code" ] || ! grep -qE -- "$pattern" "$dir/log"; then
        failed=$((failed + 1)); echo "FAILED: $what: exit $rc, not $code, or no '$pattern'"; head -20 "$dir/log"
    fi
}
summary() { echo "$checks checks, $failed failed"; [ $failed = 0 ]; }
