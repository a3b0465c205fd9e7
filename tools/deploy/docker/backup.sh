#!/bin/sh
# Dumps the database, and keeps the last dump of each weekday. A dump that fails leaves the one of a week ago.
# animals.image names the image that runs, whose tag is the revision.
set -eu
umask 077
file="/var/backups/animals-$(date +%u).dump"
trap 'rm -f "$file.partial"' EXIT
docker exec --env-file /etc/animal-store/db.env animals-db pg_dump --format custom animals >"$file.partial"
mv "$file.partial" "$file"
docker ps --all --filter 'name=^animal-store-1$' --format '{{.Image}}' >/var/backups/animals.image
