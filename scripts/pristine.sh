# Sourced by the scripts beside it that prove something in a Debian of its own, made by debootstrap. Needs lib.sh, root and
# the network; http_proxy and https_proxy are passed on.
# shellcheck shell=bash

# pristine_arguments [--keep] [MIRROR [SUITE]]: where the system comes from, and whether it is left to look at.
pristine_arguments() {
  keep=''
  while [[ ${1:-} == -* ]]; do
    case $1 in
      -h | --help) usage && exit ;;
      --keep) keep=yes ;;
      *) die "unknown option $1; see --help" ;;
    esac
    shift
  done
  mirror=${1:-${DEBIAN_MIRROR:-http://deb.debian.org/debian}}
  suite=${2:-bookworm}
  readonly keep mirror suite
}

# Mounts are made in namespaces of their own, so none is ever to be seen here; should one be, it
# must go before anything is deleted.
clean_up() {
  local point
  while read -r point; do
    umount "$point" || { say "still mounted, so nothing is deleted: $point"; return; }
  done < <(awk -v top="$work/" 'index($2, top) == 1 { print $2 }' /proc/mounts | sort -r)
  if [[ -n $keep ]]; then
    say "kept: $system"
  else
    rm -rf --one-file-system "$work"
  fi
}
# inside COMMAND...: runs it in the pristine system, in the clone once there is one. The namespace
# of its mounts ends with the command, and so do all processes that it leaves behind.
inside() {
  # shellcheck disable=SC2016  # the inner shell expands these
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    mount -t proc proc "$1/proc"
    exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      sh -c "cd /root/titer 2>/dev/null; exec \"\$@\"" sh "${@:2}"
  ' bash "$system" "$@" </dev/null
}

# make_pristine: the system, with Debian's minimal set and its lists of packages.
make_pristine() {
  local tool
  ((EUID == 0)) || die 'needs root, for debootstrap and chroot'
  for tool in debootstrap unshare; do
    command -v "$tool" >/dev/null || die "needs $tool"
  done
  work=$(mktemp -d "${TMPDIR:-/tmp}/titer-pristine.XXXXXX")
  system=$work/system
  readonly work system
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  quietly "Making Debian $suite from $mirror" unshare --mount --propagation private \
    debootstrap --variant=minbase "$suite" "$system" "$mirror"
  cp --dereference /etc/resolv.conf "$system/etc/resolv.conf"
  quietly 'Reading the package lists' inside apt-get update
}
