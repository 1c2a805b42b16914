#!/usr/bin/env bash
# Makes .venv and installs the locked dependencies; done once, then skipped by make.
set -euo pipefail
cd "$(dirname "$0")/.."
log=.venv/setup.log

fail() { printf '\n%s\n' "$1" >&2; exit 3; }

"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail 'Python 3.11 or later is needed. Debian: apt install python3 python3-venv; then run make again.'
"${PYTHON:-python3}" -m venv .venv ||
  fail 'The venv module is missing. Debian: apt install python3-venv; then run make again.'
: > "$log"

# Elapsed time on one line; a dot every ten seconds when nobody watches a terminal.
watch() {
  local pid=$1 start=$SECONDS
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    if [ -t 2 ]; then printf '\r  %3d s ' $((SECONDS - start)) >&2
    elif [ $(((SECONDS - start) % 10)) -eq 0 ]; then printf '.' >&2; fi
  done
  if [ -t 2 ]; then printf '\r' >&2; else printf ' %d s\n' $((SECONDS - start)) >&2; fi
  wait "$pid"
}

# What most likely went wrong, by what pip wrote.
cause() {
  if grep -q 'No space left on device' "$log"; then
    echo 'The disk is full; about 2 GB are needed while llama.cpp is compiled.'
  elif grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    echo 'A package is not the file that requirements.lock names, so it was not installed.'
  elif grep -qE 'NewConnectionError|NameResolutionError|ProxyError|ConnectTimeout|ReadTimeout' "$log"; then
    echo 'The package index could not be reached. Is there a network, or does pip need a proxy?'
  elif grep -qE 'Failed building wheel|CMake Error' "$log"; then
    echo 'llama.cpp could not be compiled; the first error is further up in the log.'
  else
    echo 'The installation failed.'
  fi
}

# pip runs in a process group of its own, so that nothing goes on compiling after Ctrl-C.
stop() {
  trap - INT TERM HUP
  local pid  # asked for, since a signal may come before the group's number was noted
  for pid in $(jobs -p); do kill -- "-$pid" 2>/dev/null || true; done
  fail 'Stopped. Nothing is half installed that matters: run make again, and it starts over.'
}

pip() { .venv/bin/python -m pip --disable-pip-version-check "$@" >> "$log" 2>&1 < /dev/null; }

if ! command -v c++ >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
  fail 'llama.cpp is compiled for this machine and needs a C++ compiler.
Debian: apt install build-essential    macOS: xcode-select --install    Then run make again.'
fi
echo 'Installing the locked dependencies. llama.cpp is compiled for this processor, which takes' >&2
echo "about five minutes the first time; pip keeps the result. Details: $log" >&2
trap stop INT TERM HUP
set -m
(pip install --require-hashes -r requirements.lock && pip install --no-deps --no-build-isolation -e .) &
job=$!
set +m
watch "$job" || {
  tail -n 15 "$log" >&2
  fail "$(cause)
The last lines of $log are above. Mend the cause and run make again: what pip has built is kept."
}
touch .venv/ready
echo 'Ready.' >&2
