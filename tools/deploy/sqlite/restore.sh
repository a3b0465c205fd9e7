#!/bin/sh
# Replaces a database by a copy: restore.sh COPY FILE. Stop every process that uses the file before.
set -eu
umask 077
[ "$(head -c 15 "$1")" = 'SQLite format 3' ] || { echo "$1 is no SQLite database" >&2; exit 1; }
cp "$1" "$2.restored"
# The service's user owns the folder.
chown --reference="$(dirname "$2")" "$2.restored"
# Its log belongs to the database that is replaced.
rm -f "$2" "$2-wal" "$2-shm"
mv "$2.restored" "$2"
