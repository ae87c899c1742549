#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The seeds of each fuzz target are one archive, corpus/TARGET.tar. Both commands take a
# directory DIR, which has or gets the files as DIR/TARGET/*:
#
#	corpus.sh unpack DIR [TARGET]	from the archives, or that of TARGET
#	corpus.sh pack DIR [TARGET]	to them; the same files make the same archive

set -euo pipefail
archives=$(dirname "$(realpath "$0")")/corpus

case $1 in
unpack)
	mkdir -p "$2"
	for archive in "$archives"/${3:-*}.tar; do
		[[ ! -e $archive ]] || tar -C "$2" -xf "$archive"
	done
	;;
pack)
	for seeds in "$2"/${3:-*}/; do
		target=$(basename "$seeds")
		tar -C "$2" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
			--mode=u=rwX,go=rX --format=ustar -cf "$archives/$target.tar" "$target"
	done
	;;
esac
