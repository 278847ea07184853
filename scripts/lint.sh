#!/usr/bin/env bash
# Checks of the source text.
#
#   scripts/lint.sh [format|layers|shell|tidy|alone]...  all five without an argument
#   scripts/lint.sh fix                                  lays the code out with clang-format
#
# format: .clang-format over all C++ files. layers: the direction of the includes. shell: syntax of
# the shell scripts, and shellcheck where it is installed. tidy: .clang-tidy over src, in build-tidy/.
# alone: each file of src compiles by itself (the debug preset), where scripts/run.sh compiles a room's
# together.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Files that git has, or would have: new ones count before they are committed.
files() {
  git -C "$root" ls-files -z --cached --others --exclude-standard --deduplicate -- "$@"
}

format() { files '*.hpp' '*.cpp' | xargs -0 -r clang-format "$@"; }

shell() {
  # Scripts of tests/data are input of tests, written as others write theirs.
  files '*.sh' .ci/run ':!tests/data' | xargs -0 -r -n 1 bash -n
  if command -v shellcheck >/dev/null; then
    files '*.sh' .ci/run ':!tests/data' | xargs -0 -r shellcheck --external-sources --exclude=SC2119
  else
    say 'note: shellcheck is not installed; only the syntax of the shell scripts was checked'
  fi
}

# One process for what is compiled as one, rooms or a few of them, as most of the time goes into what they all
# include; the largest first, so that no core waits for a late long one.
tidy() {
  local folder=$root/build-tidy
  quietly 'Configuring' cmake --preset tidy
  quietly 'Generating' cmake --build --preset tidy
  if ! grep -q -F src/python "$folder/compile_commands.json"; then
    say 'note: the Python module is not built here and is not checked'
  fi
  sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$folder/compile_commands.json" |
    grep -v -F "$folder/generated/" | tr '\n' '\0' | xargs -0 ls -S | tr '\n' '\0' |
    xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p "$folder" \
      --checks=-bugprone-suspicious-include --extra-arg=-Wno-unknown-warning-option \
      2> >(grep -v 'warnings\? generated' >&2)
}

alone() {
  quietly 'Configuring' cmake --preset debug
  quietly 'Generating' cmake --build --preset debug --target titer_generated
  python3 scripts/check_alone.py build-debug
}

cd "$root"
(($# > 0)) || set -- format layers shell tidy alone
for check in "$@"; do
  case $check in
    -h | --help) usage && exit ;;
    format | layers | shell | tidy | alone | fix) ;;
    *) die "unknown check '$check'; expected: format layers shell tidy alone fix" ;;
  esac
done
"$root/scripts/install_packages.sh" lint
for check in "$@"; do
  case $check in
    format) format --dry-run -Werror ;;
    fix) format -i ;;
    layers) python3 scripts/check_layers.py ;;
    shell) shell ;;
    tidy) tidy ;;
    alone) alone ;;
  esac
done
