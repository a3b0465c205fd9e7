#!/bin/sh
# Replaces a database by a copy: restore.sh COPY FILE. Stop every process that uses the file before.
set -eu
umask 077
# Its log belongs to the database that is replaced.
rm -f "$2" "$2-wal" "$2-shm"
cp "$1" "$2"
# The service's user owns the folder.
chown --reference="$(dirname "$2")" "$2"
