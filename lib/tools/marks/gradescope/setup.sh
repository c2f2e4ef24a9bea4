#!/usr/bin/env bash
# Gradescope runs this as root when it makes the autograder's image, with the bundle unpacked in /autograder/source:
# it installs what the course needs and builds all that does not depend on a submission.
set -eu
cd "${AUTOGRADER:-/autograder}/source"
export DEBIAN_FRONTEND=noninteractive
lib/scripts/setup.sh build grade
# The machine that grades may be another than the one that builds.
make -j"$(nproc)" MARCH="${MARCH:-x86-64-v2}" grader
