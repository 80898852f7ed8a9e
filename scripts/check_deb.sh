#!/bin/sh
# scripts/check_deb.sh BUILD: installs the packages of scripts/deb.sh by apt in a fresh root of this release of Debian,
# which has nothing else, runs packages/smoke.sh there, and removes them again.  Needs mmdebstrap, root and network.
set -eu
cd "$(dirname "$0")/.."
packages=$(realpath "$1")/packages
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/nami"
cp "$packages"/*.deb "$stage/nami"
cp -R examples packages/smoke.sh "$stage/nami"
echo "fresh $release: apt installs $(cd "$packages" && echo *.deb)"
mmdebstrap --quiet --variant=minbase \
    --customize-hook="copy-in $stage/nami /root" \
    --customize-hook='chroot "$1" sh -c "cd /root/nami && apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ./*.deb librsvg2-2 gcc libc6-dev pkg-config >log 2>&1 || { cat log; exit 1; }"' \
    --customize-hook='chroot "$1" sh /root/nami/smoke.sh /root/nami' \
    --customize-hook='chroot "$1" sh -c "apt-get purge -qq -y libnami0 >/dev/null 2>&1; ! ls -d /usr/lib/*/libnami* /usr/lib/python3/dist-packages/nami 2>/dev/null"' \
    "$release" /dev/null
