#!/usr/bin/env bash
# Proves the packages of scripts/make_packages.sh, which must be there: installs them with apt in a pristine Debian, where
# each brings what it needs, runs the program, and builds and runs examples/ask against the library. Of titer-static, where it
# was made, that it runs where there is no library at all.
#
#   scripts/prove_packages.sh [--keep] [MIRROR [SUITE]]
#
# As scripts/prove_pristine.sh, whose arguments these are; takes about 1 GB under $TMPDIR (/tmp).
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/pristine.sh
source "$root/scripts/pristine.sh"

pristine_arguments "$@"
compgen -G "$root/build-package/titer_*.deb" >/dev/null || die 'no packages; scripts/make_packages.sh makes them'
make_pristine
cp "$root"/build-package/*.deb "$system/root/"

# install NAME...: packages of ours and Debian's, with what they depend on.
install() { quietly "Installing $*" inside apt-get install -y --no-install-recommends "$@"; }

# shows WORDS COMMAND...: the command inside prints these words.
shows() {
  local words=$1
  shift
  inside "$@" >"$work/out" 2>&1 || { cat "$work/out"; die "failed: $*"; }
  grep -q -e "$words" "$work/out" || { cat "$work/out"; die "no '$words' in the output of: $*"; }
  say "ok: $*"
}

# glob NAME: the package's file, as it is called inside.
glob() { basename "$(compgen -G "$system/root/$1_*.deb")" | sed 's|^|/root/|'; }

install "$(glob titer)"
shows '^titer [0-9]' titer --version
shows 'iteration time' titer run gpt3-175b-64xa100
shows 'llama3-70b' titer list models
shows 'iteration_time_s' titer ask /usr/share/doc/titer/examples/question.json
# What is recommended is left out here: a PNG says what it needs, and is drawn once that is there.
if inside titer run gpt3-175b-64xa100 --plot /root/a.png >"$work/out" 2>&1; then
  die 'a PNG without librsvg2-2'
fi
grep -q 'librsvg2-2' "$work/out" || { cat "$work/out"; die 'no word of librsvg2-2'; }
[[ ! -e $system/root/a.png ]] || die 'a PNG that failed stays behind'
install librsvg2-2
shows 'iteration time' titer run gpt3-175b-64xa100 --plot /root/a.png
[[ $(head -c 4 "$system/root/a.png" | tail -c 3) == PNG ]] || die 'no PNG: /root/a.png'
say 'ok: /root/a.png'
for file in man/man1/titer-run.1 doc/titer/copyright bash-completion/completions/titer titer/schemas/run.json; do
  [[ -s $system/usr/share/$file ]] || die "not installed: /usr/share/$file"
done

install "$(glob libtiter-dev)" g++ cmake make
shows 'micro-batch 2' sh -c 'cp -r /usr/share/doc/titer/examples/ask /root/ask && cd /root/ask &&
  cmake -S . -B build && cmake --build build && build/ask'

# In a folder that holds nothing else, and in place of the other package.
if static=$(compgen -G "$root/build-package-static/titer-static_*.deb"); then
  dpkg-deb -x "$static" "$work/empty"
  for arguments in '--version' 'run gpt3-175b-64xa100' 'list models'; do
    # shellcheck disable=SC2086  # words of a command line
    env -i "$(command -v chroot)" "$work/empty" /usr/bin/titer $arguments >"$work/out" 2>&1 ||
      { cat "$work/out"; die "failed where there are no libraries: titer $arguments"; }
    say "ok: titer-static without libraries: titer $arguments"
  done
  cp "$static" "$system/root/"
  install "$(glob titer-static)"
  shows '^titer [0-9]' titer --version
  inside titer run gpt3-175b-64xa100 --plot /root/b.png >"$work/out" 2>&1 && die 'a PNG by a program that loads nothing'
  grep -q 'draws none' "$work/out" || { cat "$work/out"; die 'no word of what PNG needs'; }
  inside titer serve >"$work/out" 2>&1 && die 'a server without its library'
  grep -q 'cpp-httplib' "$work/out" || { cat "$work/out"; die 'no word of what a server needs'; }
  install "$(glob titer)"
fi

if compgen -G "$system/root/python3-titer_*.deb" >/dev/null; then
  install "$(glob python3-titer)"
  shows 'iteration_time_s' python3 -c 'import titer; print(titer.run("llama3-70b-64xh100"))'
fi
