#!/usr/bin/env bash
# Makes packages for this Debian, in build-package/: titer (the program, its data, manual pages and documents), libtiter-dev
# (the C++ library) and, where Debian's pybind11-dev and libpython3-dev are there, python3-titer.
#
#   scripts/make_packages.sh [--static]
#
# Prints their paths. With --static also titer-static, in build-package-static/: the program without what has to load a library.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case ${*:-} in
  '') presets=(package) ;;
  --static) presets=(package package-static) ;;
  *) usage && exit ;;
esac
"$root/scripts/install_packages.sh" package
cd "$root"
for preset in "${presets[@]}"; do
  quietly 'Configuring' cmake --preset "$preset"
  quietly 'Building' cmake --build --preset "$preset" --parallel "$jobs"
  rm -f "build-$preset"/*.deb
  (cd "build-$preset" && quietly 'Packing' cpack)
  ls "$root/build-$preset"/*.deb
done
