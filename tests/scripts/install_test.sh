#!/usr/bin/env bash
# Installs the build, and builds and runs a program against what is installed alone: its headers include nothing that
# is not there, and find_package() finds what the library is linked with.
#
#   install_test.sh BUILD [CXX]
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/titer" >"$folder/log"
for file in man/man1/titer-run.1 doc/titer/copyright doc/titer/docs/guide/predict.md doc/titer/examples/ask/ask.cpp \
  bash-completion/completions/titer titer/schemas/run.json; do
  [[ -s $folder/titer/share/$file ]] || { echo "not installed: share/$file"; exit 1; }
done
version=$("$folder/titer/bin/titer" --version)
if [[ -e $build/titer_http.so ]]; then
  exec {served}< <(exec "$folder/titer/bin/titer" serve --port 0 2>&1)
  server=$!
  read -r line <&"$served"
  kill "$server"
  [[ $line == http://* ]] || { echo "$line"; exit 1; }
fi
[[ ! -e $root/.git || $version =~ \+[0-9a-f]{7} ]] || { echo "$version names no commit"; exit 1; }
cmake -S "$root/examples/ask" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/titer" -DCMAKE_CXX_COMPILER="${2:-c++}" \
  >>"$folder/log" || { cat "$folder/log"; exit 1; }
cmake --build "$folder/build" >>"$folder/log" || { cat "$folder/log"; exit 1; }
cd "$folder"

wanted=$("$folder/titer/bin/titer" run llama3-70b-64xh100 --set plan.micro_batch=2 --format csv |
  python3 -c 'import csv, sys; print("micro-batch 2: %.3f s" % float(next(csv.DictReader(sys.stdin))["iteration_time_s"]))')
export TITER_DATA=$folder/titer/share/titer
"$folder/build/ask" >answer
grep -q "^$wanted" answer || { echo "expected $wanted in:"; cat answer; exit 1; }
if "$folder/build/ask" no-such-run 2>refusal; then
  echo 'a run that does not exist was answered'
  exit 1
fi
grep -q '^no-such-run: ' refusal || { cat refusal; exit 1; }
# Every header that the guide names, and every one by itself, as some program will include it.
grep -o 'titer/[a-z_]*/[a-z_]*\.hpp' "$root/docs/guide/cpp.md" | sort -u | while read -r header; do
  [[ -s $folder/titer/include/$header ]] || { echo "not installed: $header"; exit 1; }
done
(cd "$folder/titer/include" && find . -name '*.hpp' | while read -r header; do
  echo "#include \"$header\"" | "${2:-c++}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I . -x c++ -
done)
echo "installed: $(find "$folder/titer/include" -name '*.hpp' | wc -l) headers"
