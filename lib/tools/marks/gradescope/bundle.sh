#!/usr/bin/env bash
# The zip file that Gradescope asks for: setup.sh, run_autograder, and the course as the last commit has it, with
# tests/points.json as it is now.
#
#   lib/tools/marks/gradescope/bundle.sh FILE.zip
set -eu
file=$(realpath -m "${1:?usage: bundle.sh FILE.zip}")
cd "$(dirname "$0")/../../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git archive HEAD Makefile lib lessons solutions exercises tests | tar -x -C "$folder"
cp tests/points.json "$folder/tests/points.json"
cp lib/tools/marks/gradescope/setup.sh lib/tools/marks/gradescope/run_autograder "$folder"
mkdir -p "$(dirname "$file")"
rm -f "$file"
python3 - "$folder" "$file" <<'END'
import pathlib
import sys
import zipfile

folder, file = pathlib.Path(sys.argv[1]), sys.argv[2]
with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            bundle.write(path, path.relative_to(folder))
END
echo "$file: $(du -k "$file" | cut -f 1) KiB"
