#!/usr/bin/env bash
# Makes packages for this Debian, in build-package/: titer (the program, its data, manual pages and documents), libtiter-dev
# (the C++ library) and, where Debian's pybind11-dev and libpython3-dev are there, python3-titer.
#
#   scripts/make_packages.sh
#
# Prints their paths.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# == 0 ]] || { usage && exit; }
"$root/scripts/install_packages.sh" package
cd "$root"
quietly 'Configuring' cmake --preset package
quietly 'Building' cmake --build --preset package --parallel "$jobs"
rm -f build-package/*.deb
(cd build-package && quietly 'Packing' cpack)
ls "$root"/build-package/*.deb
