#!/usr/bin/env bash
# Builds the page with the library inside, as WebAssembly: one HTML file that needs neither program nor network.
#
#   scripts/build_web_page.sh [OUT.html]    build-web/titer.html without an argument
#
# Takes some ten minutes on two cores; Debian's emscripten and Node.js are installed first.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

out=${1:-$root/build-web/titer.html}
"$root/scripts/install_packages.sh" web
export NODE_PATH=/usr/share/nodejs # Debian's modules, for a Node.js that is not Debian's too
quietly 'Configuring' emcmake cmake -G Ninja -S "$root/web" -B "$root/build-web" -DCMAKE_BUILD_TYPE=Release
quietly 'Building' cmake --build "$root/build-web" --parallel "$jobs"
node "$root/web/assemble.js" "$root/build-web/titer_page.js" "$out.new"
mv "$out.new" "$out"
echo "$out"
