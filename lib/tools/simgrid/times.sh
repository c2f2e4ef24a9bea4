#!/usr/bin/env bash
# Our virtual time beside SimGrid's simulated time, run by run and protocol by protocol: times.sh BUILD.
set -eu
build=${1:?usage: times.sh BUILD}
printf '%-23s%-13s%11s%12s%9s\n' run "SimGrid's" 'ours' "SimGrid's" ratio
printf '%-23s%-13s%11s%12s%9s\n' '' 'protocol' '' '' ''
for run in ring pipeline 3d; do
    for protocol in eager rendezvous measured; do "$build/simulated-times" "$run" "$protocol"; done
done
