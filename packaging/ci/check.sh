#!/usr/bin/env bash
# What action.yml runs: installs raceproof where none is on the PATH, and checks with findings at their lines in the pull request.
# Reads RACEPROOF_PATHS, RACEPROOF_ARGUMENTS, RACEPROOF_VERSION and RACEPROOF_SARIF, and exits as `raceproof check` does.
set -uo pipefail

if ! command -v raceproof >/dev/null; then
  python3 -m venv "${RUNNER_TEMP:?}/raceproof" || exit 2
  "$RUNNER_TEMP/raceproof/bin/pip" install --quiet --disable-pip-version-check "raceproof[tools]${RACEPROOF_VERSION:+==$RACEPROOF_VERSION}" || exit 2
  PATH=$RUNNER_TEMP/raceproof/bin:$PATH
fi
read -ra paths <<<"${RACEPROOF_PATHS:-.}"
read -ra arguments <<<"${RACEPROOF_ARGUMENTS:-}"
[ -z "${RACEPROOF_SARIF:-}" ] || arguments+=(--output "sarif=$RACEPROOF_SARIF")
raceproof check --format github "${arguments[@]}" -- "${paths[@]}"
code=$?
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
