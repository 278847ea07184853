#!/usr/bin/env bash
# Installs the Debian packages that Titer needs; does nothing when they are there already.
#
#   scripts/install_packages.sh build|package|test|lint|cluster|web
#
# build: to build and run the program. package: also to pack it. test: also to build and run the tests. lint: also for the
# checks before a change lands. cluster: what scripts/test_cluster.sh runs sweeps under. web: also to build the page that needs
# no program. Needs root, or a user who may use sudo.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# list, package, reason; build, test and lint each include the ones before.
packages() {
  cat <<'END'
build  g++                 the C++20 compiler
build  cmake               configures the build
build  ninja-build         runs the build
build  libeigen3-dev       collectives, calibrate: least-squares fits
build  nlohmann-json3-dev  input: JSON
build  libmuparser-dev     input: expressions over named figures
build  libcli11-dev        app: the command line
build  libfmt-dev          text and shortest doubles; g++ 12 has no <format>
build  libboost-dev        topology: graph algorithms; hardware: nearest points (headers only)
build  libpugixml-dev      topology: NCCL's topology files (XML)
build  libyaml-cpp-dev     import: YAML of NeMo, Megatron, GPT-NeoX
build  libtomlplusplus-dev script: TOML of torchtitan
build  libcpp-httplib-dev  app: titer serve; the build does without it
build  librsvg2-dev       app: pictures as PNG; the build does without it
build  zlib1g-dev          trace: compressed traces
build  libsqlite3-dev      trace: what Nsight Systems exports
build  libprotobuf-dev     report: Chakra traces; the build does without it
build  protobuf-compiler   the same
package dpkg-dev           dpkg-shlibdeps: what a package needs
package file               the same: what is a program
test   libgtest-dev        GoogleTest
test   libbenchmark-dev    tests/bench: Google Benchmark
test   python3             checks of the layers and of the documents; the Python module
test   python3-jsonschema  checks of the files that are shipped against `titer schema`
test   libpython3-dev      python: the module; the build does without it
test   pybind11-dev        the same
lint   clang               a second compiler's warnings and tests
lint   libclang-rt-dev     its sanitizers
lint   clang-tidy          static checks
lint   clang-format        the layout of the code
web    emscripten          the library in WebAssembly
web    node-acorn          what it trims its scripts with
web    nodejs              puts the page together
cluster slurmctld          srun, sbatch, job arrays: its controller
cluster slurmd             its daemon of a node
cluster slurm-client       its commands
cluster openmpi-bin        mpirun
END
}

case ${1:-} in
  build) lists='build' ;;
  package) lists='build|package' ;;
  test) lists='build|test' ;;
  lint) lists='build|test|lint' ;;
  cluster) lists='cluster' ;;
  web) lists='build|web' ;;
  -h | --help) usage && exit ;;
  *) die "expected one of: build package test lint cluster web" ;;
esac
mapfile -t wanted < <(packages | awk -v lists="^($lists)$" '$1 ~ lists { print $2 }')

if ! command -v dpkg-query >/dev/null; then
  say "note: not a Debian system; Titer needs what Debian calls ${wanted[*]}"
  exit 0
fi

present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -q -x -F "installed $package" <<<"$present" || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
  as_root=(sudo)
  # Without a terminal nobody can type the password.
  [[ -t 2 ]] || as_root=(sudo -n)
  "${as_root[@]}" true 2>/dev/null ||
    die "neither root nor sudo is available; have these installed: ${missing[*]}"
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o Acquire::Retries=3
  -o DPkg::Lock::Timeout=300)
quietly 'Reading the package lists' "${apt[@]}" update
quietly 'Installing packages' "${apt[@]}" install --no-install-recommends "${missing[@]}"
