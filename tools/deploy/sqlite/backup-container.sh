#!/bin/sh
# Copies the database of a container while the service runs: backup-container.sh CONTAINER COPY
set -eu
# The copy holds what the file holds.
umask 077
file=$(docker exec "$1" node --print 'path.resolve(process.env.SQLITE_FILE)')
# Of this process alone: another one may copy at the same time.
partial="$2.$$.partial"
in_container="$file.$$.backup"
trap 'rm -f "$partial"; docker exec "$1" node --eval "fs.rmSync(process.argv[1], { force: true })" "$in_container"' EXIT
trap 'exit 1' HUP INT TERM
docker exec --interactive "$1" node --input-type=module - "$file" "$in_container" <"$(dirname "$0")/backup.mjs"
# An earlier copy stays until this one is whole.
docker cp "$1:$in_container" - | tar --extract --to-stdout >"$partial"
mv -f "$partial" "$2"
