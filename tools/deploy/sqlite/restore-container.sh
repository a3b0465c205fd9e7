#!/bin/sh
# Replaces the database of a container by a copy: restore-container.sh COPY CONTAINER. The service is stopped meanwhile.
set -eu
docker stop -t 20 "$2"
docker run --rm --interactive --volumes-from "$2" "$(docker inspect --format '{{.Image}}' "$2")" node --eval "
  for (const name of ['', '-wal', '-shm']) fs.rmSync('/data/animals.db' + name, { force: true });
  fs.writeFileSync('/data/animals.db', fs.readFileSync(0), { mode: 0o600 })" <"$1"
docker start "$2"
