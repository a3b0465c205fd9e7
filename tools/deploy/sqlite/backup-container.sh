#!/bin/sh
# Copies the database of a container while the service runs: backup-container.sh CONTAINER COPY
set -eu
# The copy holds what the file holds.
umask 077
file=$(docker exec "$1" node --print 'process.env.SQLITE_FILE ?? ""')
[ -n "$file" ] || { echo "the container $1 has no SQLITE_FILE" >&2; exit 1; }
trap 'docker exec "$1" node --eval "fs.rmSync(process.argv[1], { force: true })" "$file.backup"' EXIT
docker exec --interactive "$1" node --input-type=module - "$file" "$file.backup" <"$(dirname "$0")/backup.mjs"
docker cp "$1:$file.backup" - | tar --extract --to-stdout >"$2"
