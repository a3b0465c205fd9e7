#!/bin/sh
# Replaces the database of a container by a copy: restore-container.sh COPY CONTAINER. The service is stopped meanwhile.
set -eu
[ "$(head -c 15 "$1")" = 'SQLite format 3' ] || { echo "$1 is no SQLite database" >&2; exit 1; }
file=$(docker inspect --format '{{range .Config.Env}}{{println .}}{{end}}' "$2" | sed -n 's/^SQLITE_FILE=//p')
[ -n "$file" ] || { echo "the container $2 has no SQLITE_FILE" >&2; exit 1; }
trap 'docker start "$2"' EXIT
docker stop -t 20 "$2"
# The database is removed when the whole copy is there.
docker run --rm --interactive --volumes-from "$2" "$(docker inspect --format '{{.Image}}' "$2")" node --eval "
  const [, file, size] = process.argv;
  const copy = file + '.restored';
  stream.promises.pipeline(process.stdin, fs.createWriteStream(copy, { mode: 0o600 })).then(() => {
    if (fs.statSync(copy).size !== Number(size)) throw new Error('the copy was not transferred whole');
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
    fs.renameSync(copy, file);
  })" "$file" "$(wc -c <"$1")" <"$1"
