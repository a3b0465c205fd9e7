#!/bin/sh
# Copies the database of a container while the service runs: backup-container.sh CONTAINER COPY
set -eu
# The copy holds what the file holds.
umask 077
file=$(docker exec "$1" node --print 'path.resolve(process.env.SQLITE_FILE)')
trap 'rm -f "$2.partial"; docker exec "$1" node --eval "fs.rmSync(process.argv[1], { force: true })" "$file.backup"' EXIT
trap 'exit 1' HUP INT TERM
docker exec --interactive "$1" node --input-type=module - "$file" "$file.backup" <"$(dirname "$0")/backup.mjs"
# An earlier copy stays until this one is whole.
docker cp "$1:$file.backup" - | tar --extract --to-stdout >"$2.partial"
mv -f "$2.partial" "$2"
