#!/bin/sh
# npm start, npm run dev and npm run cli: installs the dependencies, and becomes the application, which runs from its sources.
# After `exec` there are only npm and the application, which gets the signals that npm forwards.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
watch=
[ "$1" != --watch ] || { watch=$1; shift; }
main=$root/$1
shift

# A shell handles a signal when its foreground program has ended: so the installation runs in the background.
trap 'kill -s TERM "$!" && wait "$!"; exit' HUP INT TERM
node "$root/tools/bootstrap/run.mjs" install &
wait "$!"
trap - HUP INT TERM

node=$root/node_modules/.bin/node
"$node" --version >/dev/null 2>&1 || node=$(node "$root/tools/bootstrap/run.mjs" node)
# Relative paths start in the folder in which npm was called. npm changes to the root.
cd -- "${INIT_CWD:-.}"
# Node.js keeps the JavaScript that it makes of the sources: the next start takes less time and memory.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$root/node_modules/.cache/node}"
exec "$node" $watch --conditions=@animal-store/source "$main" "$@"
