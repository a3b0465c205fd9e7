#!/bin/sh
# Copies the database of a container while the service runs: backup-container.sh CONTAINER COPY
set -eu
# The copy holds what the file holds.
umask 077
docker exec --interactive "$1" node --input-type=module - /data/animals.db /data/backup.db <"$(dirname "$0")/backup.mjs"
docker cp "$1:/data/backup.db" - | tar --extract --to-stdout >"$2"
docker exec "$1" node --eval "fs.rmSync('/data/backup.db')"
