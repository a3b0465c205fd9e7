#!/bin/sh
# Replaces the database of a container by a copy: restore-container.sh COPY CONTAINER [IDS]. The service is stopped meanwhile.
# IDS is explained in restore.mjs.
set -eu
inspect() { docker inspect --format "$1" "$container"; }
fail() { echo "$1" >&2; exit 1; }
container=$2
file=$(inspect '{{range .Config.Env}}{{println .}}{{end}}' | sed -n 's/^SQLITE_FILE=//p')
in_volume=no
for volume in $(inspect '{{range .Mounts}}{{println .Destination}}{{end}}'); do
  case $file in "$volume"/*) in_volume=yes ;; esac
done
[ $in_volume = yes ] || fail "the file of the container (SQLITE_FILE='$file') is not in a volume"
[ "$(inspect '{{.HostConfig.AutoRemove}}')" = false ] || fail 'the container would be removed when it is stopped'
trap 'docker start "$container"' EXIT
trap 'exit 1' HUP INT TERM
docker stop -t 25 "$container"
docker run --rm --interactive --user "$(inspect '{{.Config.User}}')" --volumes-from "$container" "$(inspect '{{.Image}}')" \
  node --input-type=module --eval "$(cat "$(dirname "$0")/restore.mjs")" -- restore.mjs - "$file" ${3+"$3"} <"$1"
