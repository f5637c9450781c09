#!/usr/bin/env bash
# Fills the corpus of every target from the fixtures. Usage: fuzz/seeds.sh [RACEPROOF], the built program.
set -euo pipefail
cd "$(dirname "$0")/.."
raceproof=${1:-target/release/raceproof}
[ -x "$raceproof" ] || { echo "fuzz/seeds.sh: no program $raceproof; build it, or name it" >&2; exit 1; }
for target in preprocessor front check calculus; do mkdir -p "fuzz/corpus/$target"; done
find fixtures \( -name '*.cu' -o -name '*.cl' -o -name '*.hip' -o -name '*.h' \) -size -8k | while read -r file; do
  name=${file//\//_}
  for target in preprocessor front check; do cp "$file" "fuzz/corpus/$target/$name"; done
  # A file without a kernel has no calculus.
  "$raceproof" show calculus --front tree-sitter "$file" > "fuzz/corpus/calculus/$name" 2>/dev/null \
    || rm "fuzz/corpus/calculus/$name"
done
