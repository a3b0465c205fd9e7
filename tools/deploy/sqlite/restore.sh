#!/bin/sh
# Replaces a database by a copy: restore.sh COPY FILE. Stop every process that uses the file before.
set -eu
umask 077
rm -f "$2.restored"
trap 'rm -f "$2.restored"' EXIT
trap 'exit 1' HUP INT TERM
# Prints `ok` if the copy is whole.
node "$(dirname "$0")/backup.mjs" "$1" "$2.restored"
# The service's user owns the folder.
chown --reference="$(dirname "$2")" "$2.restored"
sync "$2.restored"
# Its log belongs to the database that is replaced.
rm -f "$2-wal" "$2-shm"
mv -f "$2.restored" "$2"
