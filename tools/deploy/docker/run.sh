#!/bin/sh
# run.sh IMAGE NUMBER...: runs instances at the ports 3000 + NUMBER of ADDRESS (127.0.0.1), one after the other. Each takes the
# place of the one before, which stays as animal-store-NUMBER-before, stopped, with its log. If an instance ends, or is not ready
# within half a minute, the one before is started again, animal-store-NUMBER-before stays as it is, and the instances after it
# are left alone.
set -eu
host="${ADDRESS:-127.0.0.1}"
image="${1:?run.sh IMAGE NUMBER...: IMAGE is empty}"
shift
: "${1:?run.sh IMAGE NUMBER...: there is no NUMBER}"
docker image inspect --format 'image {{.Id}}' "$image"

exists() { docker container inspect "$1" >/dev/null 2>&1; }

# Succeeds if the first process of the container becomes ready, and still is 2 s later.
is_ready() {
  end=$(($(date +%s) + 30))
  checks=0
  while [ "$(docker inspect --format '{{.RestartCount}}' "$name")" = 0 ] && [ "$(date +%s)" -lt "$end" ]; do
    checks=$((checks + 1))
    curl --silent --fail --globoff --max-time 6 --output /dev/null "http://$address/readyz" || checks=0
    if [ "$checks" = 3 ]; then return; fi
    sleep 1
  done
  return 1
}

go_back() {
  if "$is_new"; then
    echo "$name is not ready. The end of its log:" >&2
    docker logs --tail 5 "$name" >&2 || :
    docker rm --force "$name" >/dev/null || :
  fi
  if exists "$name-replaced"; then docker rename "$name-replaced" "$name"; fi
  if exists "$name"; then
    docker start "$name" >/dev/null
    echo "The one before was started again as $name." >&2
  fi
}

# A shell that a signal ends does not run the trap of EXIT.
trap 'exit 1' HUP INT TERM
for number; do
  name="animal-store-$number"
  address="$host:$((3000 + number))"
  is_new=true
  # A run that was killed has left it.
  if exists "$name-replaced"; then go_back; fi
  is_new=false
  if exists "$name"; then
    trap go_back EXIT
    # A running container can't be renamed reliably: Docker may not find its network.
    docker stop -t 25 "$name" >/dev/null
    docker rename "$name" "$name-replaced"
  fi
  trap go_back EXIT
  is_new=true
  docker run --detach --name "$name" --network animal-store --env-file /etc/animal-store/service.env \
    --init --read-only --cap-drop ALL --security-opt no-new-privileges --memory 512m --restart unless-stopped \
    --publish "$address:3000" --log-opt max-size=10m --log-opt max-file=3 "$image" >/dev/null
  is_ready
  trap - EXIT
  if exists "$name-replaced"; then
    if exists "$name-before"; then docker rm --force "$name-before" >/dev/null; fi
    docker rename "$name-replaced" "$name-before"
  fi
  echo "$name is ready at $address"
done
