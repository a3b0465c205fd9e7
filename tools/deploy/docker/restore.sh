#!/bin/sh
# Restores a dump into a database of its own, animals_restored, which replaces that of an earlier run. An error leaves none.
set -eu
dump=$1
db() { docker exec --env-file /etc/animal-store/db.env "$@"; }
db animals-db dropdb --if-exists animals_restored
trap 'db animals-db dropdb --if-exists animals_restored' EXIT
db animals-db createdb --encoding UTF8 --template template0 animals_restored
db --interactive animals-db pg_restore --single-transaction --dbname animals_restored <"$dump"
# Clients may know ids that were assigned after the dump, also after an earlier restore of it. The database may be unreadable.
last="$(db animals-db psql --tuples-only --no-align --dbname animals \
  --command "SELECT coalesce(max(last_value), 0) FROM pg_sequences WHERE sequencename = 'pets_id_seq'" || echo 0)"
db animals-db psql --set ON_ERROR_STOP=1 --dbname animals_restored \
  --command "SELECT setval('pets_id_seq', greatest(nextval('pets_id_seq'), $last) + 1000000)" \
  --command 'SELECT count(*), max(created_at) FROM pets'
trap - EXIT
