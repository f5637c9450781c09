#!/usr/bin/env bash
# Makes the archive that `cargo binstall` expects out of a wheel: archive.sh WHEEL TARGET DIRECTORY writes
# DIRECTORY/raceproof-TARGET-vVERSION.tgz, with the binary and the licences below a directory of that name, and beside it the file
# with its checksum that `sha256sum --check` reads.
set -euo pipefail
wheel=$1 target=$2 directory=$3
version=$(basename "$wheel" | cut -d- -f2)
name=raceproof-$target-v$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
python3 -m zipfile -e "$wheel" "$work/wheel"
# On Windows it ends with `.exe`.
install -m 755 "$work/wheel/raceproof-$version.data/scripts/raceproof"* "$work/$name"
cp "$(dirname "$0")/../../LICENSE-"{MIT,APACHE} "$work/$name"
tar -czf "$directory/$name.tgz" -C "$work" "$name"
(cd "$directory" && python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest(), "", sys.argv[1])' "$name.tgz" >"$name.tgz.sha256")
