#!/usr/bin/env bash
# Proves the README: makes a pristine Debian, clones the commit that is checked out here into it,
# and runs the README's two commands there, each twice.
#
#   scripts/prove_pristine.sh [--keep] [MIRROR [SUITE]]
#
# MIRROR   default: $DEBIAN_MIRROR, or http://deb.debian.org/debian
# SUITE    default: bookworm
# --keep   leaves the system there to look at
#
# The system lies under $TMPDIR (/tmp), takes about 1.5 GB, and holds Debian's minimal set, git and
# ca-certificates. Fails if a command fails, if the first does not show an iteration time or prints
# something else the second time, if a test fails, or if a second run takes 30 seconds or more.
# Needs root, debootstrap, git and the network; http_proxy and https_proxy are passed on.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/pristine.sh
source "$root/scripts/pristine.sh"

readonly limit_s=30
pristine_arguments "$@"
command -v git >/dev/null || die 'needs git'
here=(git -c "safe.directory=$root" -C "$root")
"${here[@]}" rev-parse --verify --quiet HEAD >/dev/null || die 'there is no commit to clone'
[[ -z $("${here[@]}" status --porcelain) ]] ||
  say 'note: changes that are not committed are left out'

# timed NAME COMMAND...: runs the README's command inside; its stdout goes to the file NAME and its
# time to $took.
timed() {
  local name=$1 begin=$SECONDS
  shift
  inside "$@" >"$work/$name" || { cat "$work/$name"; die "failed: $*"; }
  took=$((SECONDS - begin))
  printf '%-16s %5d s   %s\n' "$name" "$took" "$*"
}

# twice NAME COMMAND...: the command, and again within the limit.
twice() {
  local name=$1
  shift
  timed "$name-first" "$@"
  timed "$name-second" "$@"
  ((took < limit_s)) || die "the second '$*' took $took s; wanted: less than $limit_s s"
}

# shows NAME WORDS: the named output has these words, in any case.
shows() {
  grep -q -i -E -e "$2" "$work/$1" || { cat "$work/$1"; die "no '$2' in the output above"; }
}

make_pristine
quietly 'Installing git' inside apt-get install -y --no-install-recommends git ca-certificates
"${here[@]}" bundle create --quiet "$system/root/titer.bundle" HEAD
quietly 'Cloning' inside git clone /root/titer.bundle /root/titer

for command in scripts/run.sh scripts/test.sh; do
  grep -q -x -F "$command" "$system/root/titer/README.md" ||
    die "README.md has no line that reads '$command'"
done
twice run scripts/run.sh
shows run-first 'iteration[ _]time'
cmp "$work/run-first" "$work/run-second" || die 'the two runs print different things'
twice test scripts/test.sh
shows test-first '100% tests passed'
shows test-second '100% tests passed'
cat "$work/run-first"
tail -n 3 "$work/test-second"
