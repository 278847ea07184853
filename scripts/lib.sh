# Sourced by the scripts beside it: where things are, commands that stay quiet, the Release build.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$jobs}

# What quiet commands say, in a file that has no name any more and so cannot be left behind.
log_path=$(mktemp "${TMPDIR:-/tmp}/titer.XXXXXX")
exec {log_number}<>"$log_path"
rm "$log_path"
log=/dev/fd/$log_number

say() { printf '%s\n' "$*" >&2; }

die() {
  say "${0##*/}: $*"
  exit 1
}

# Prints the comment at the top of the calling script, which is its manual.
usage() { sed -n '2,/^[^#]/ { /^#/ !q; s/^# \{0,1\}//; p }' "$0"; }

# Shows the last line read, always on the same line of the terminal.
show_progress() {
  local title=$1 width line
  width=$(tput cols 2>/dev/null) || width=80
  while IFS= read -r line; do
    line="$title: $line"
    printf '\r\033[K%s' "${line:0:width-1}" >&2
  done
  printf '\r\033[K' >&2
}

# logged TITLE COMMAND...: sends what the command says to $log; on a terminal one line shows how far
# it has come.
logged() {
  local title=$1
  shift
  if [[ -t 2 ]]; then
    "$@" 2>&1 </dev/null | tee "$log" | show_progress "$title"
  else
    "$@" >"$log" 2>&1 </dev/null
  fi
}

# quietly TITLE COMMAND...: nothing on stdout; what the command said is shown only when it fails.
quietly() {
  local status=0
  logged "$@" || status=$?
  if ((status != 0)); then
    cat "$log" >&2
    say "$1: failed with $status: ${*:2}"
  fi
  return "$status"
}

# The value of a variable in build/'s CMake cache; nothing when it has none.
cached() { sed -n "s|^$1:[A-Z]*=||p" "$build/CMakeCache.txt" 2>/dev/null || true; }

# A build folder works if it is for this checkout and the tools that it was configured with exist.
build_folder_works() {
  [[ $(cached CMAKE_HOME_DIRECTORY) == "$root" ]] &&
    [[ -f $build/build.ninja || -f $build/Makefile ]] &&
    command -v "$(cached CMAKE_CXX_COMPILER)" >/dev/null &&
    command -v "$(cached CMAKE_MAKE_PROGRAM)" >/dev/null
}

# configure [NAME=VALUE...]: makes build/ ready, with these variables. A folder that works is kept
# whatever its generator and compiler; nothing is done when all is as wanted. A new folder leaves
# the tests out, so that the program builds without GoogleTest. TITER_WERROR may be set in the
# environment.
configure() {
  local wanted=("$@") options=() variable
  [[ -z ${TITER_WERROR:-} ]] || wanted+=("TITER_WERROR=$TITER_WERROR")
  if ! build_folder_works; then
    options=(--fresh -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON
      -DTITER_BUILD_TESTS=OFF)
  elif [[ $(cached CMAKE_BUILD_TYPE) != Release ]]; then
    say "note: build/ is a '$(cached CMAKE_BUILD_TYPE)' build and is used as it is;" \
      'remove it for a Release build'
  fi
  for variable in "${wanted[@]}"; do
    if ((${#options[@]} > 0)) || [[ $(cached "${variable%%=*}") != "${variable#*=}" ]]; then
      options+=("-D$variable")
    fi
  done
  if ((${#options[@]} > 0)); then
    quietly 'Configuring' cmake -S "$root" -B "$build" "${options[@]}"
  fi
}

# run_ctest FOLDER [ctest arguments...]: without arguments only the tests that failed, with what
# they printed, and ctest's closing summary are shown.
run_ctest() {
  local folder=$1 status=0
  shift
  local ctest=(ctest --test-dir "$folder" --no-tests=error --output-on-failure)
  if (($# > 0)); then
    "${ctest[@]}" "$@"
    return
  fi
  logged 'Testing' "${ctest[@]}" || status=$?
  grep -v -E '^(Internal ctest|Test project) |^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed ' \
    "$log" | cat -s
  return "$status"
}
