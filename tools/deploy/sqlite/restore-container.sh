#!/bin/sh
# Replaces the database of a container by a copy: restore-container.sh COPY CONTAINER. The service is stopped meanwhile.
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
docker stop -t 20 "$container"
docker run --rm --interactive --user "$(inspect '{{.Config.User}}')" --volumes-from "$container" \
  "$(inspect '{{.Image}}')" node --eval "
  const { DatabaseSync } = require('node:sqlite');
  const [, file] = process.argv;
  const copy = file + '.restored';
  stream.promises
    .pipeline(process.stdin, fs.createWriteStream(copy, { mode: 0o600, flush: true }))
    .then(() => {
      const database = new DatabaseSync(copy);
      const { application_id: application } = database.prepare('PRAGMA application_id').get();
      const { integrity_check: result } = database.prepare('PRAGMA integrity_check').get();
      database.close();
      if (application !== 0x416e5374) throw new Error('it is no database of the Animal Store');
      if (result !== 'ok') throw new Error(result);
      // Its log belongs to the database that is replaced.
      for (const log of ['-wal', '-shm']) fs.rmSync(file + log, { force: true });
      fs.renameSync(copy, file);
    })
    .catch((error) => {
      console.error('the copy can\'t be used: ' + error.message);
      for (const part of ['', '-wal', '-shm']) fs.rmSync(copy + part, { force: true });
      process.exitCode = 1;
    })" "$file" <"$1"
