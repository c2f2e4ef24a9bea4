#!/usr/bin/env bash
# shardlings grid as a user meets it: grid_test.sh BUILD. What does not fit gets one clear message and a non-zero exit and
# leaves no file behind.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
refused() { fails_with "$1" "$program" grid "${@:2}" --svg "$folder/out.svg"; }  # MESSAGE ARGUMENT…
shows() { prints "$1" squeezed "$program" grid "${@:2}"; }                      # LINE ARGUMENT…

# --- 32 devices: stages on nodes of their own
example=(--pp 4 --dp 2 --tp 4 --topology 4x8)
shows 'pp 4 x dp 2 x tp 4: 32 ranks on 4 nodes of 8 devices' "${example[@]}"
shows 'node 2 16: 2 0 0 17: 2 0 1 18: 2 0 2 19: 2 0 3 20: 2 1 0 21: 2 1 1 22: 2 1 2 23: 2 1 3' "${example[@]}"
shows 'pipeline 8 4 0 0 24 5 us, 25 GB/s 0 8 16 24' "${example[@]}"
shows 'data 16 2 16 16 0 2 us, 300 GB/s 0 4' "${example[@]}"
shows 'tensor 8 4 8 32 0 2 us, 300 GB/s 0 1 2 3' "${example[@]}"

# --- degrees that all differ, so that none can stand for another
shows 'node 3 18: 1 1 2 19: 1 1 3 20: 1 2 0 21: 1 2 1 22: 1 2 2 23: 1 2 3' --pp 2 --dp 3 --tp 4 --topology 4x6
shows 'pipeline 12 2 0 0 12 5 us, 25 GB/s 0 12' --pp 2 --dp 3 --tp 4 --topology 4x6
# Rings of 3, 4 ranks apart, on nodes of 6: (0 4 8) has 0-4 in a node, 4-8 and 8-0 between; (2 6 10) 6-10 in one.
shows 'data 8 3 0 8 16 5 us, 25 GB/s 0 4 8' --pp 2 --dp 3 --tp 4 --topology 4x6
# Of the six rings of four, ranks 4 5 6 7 and 16 17 18 19 lie across two nodes, with two links between them each.
shows 'tensor 6 4 4 20 4 5 us, 25 GB/s 0 1 2 3' --pp 2 --dp 3 --tp 4 --topology 4x6

# --- nothing to send, devices left over, long nodes
shows 'data 4 1 4 0 0 no messages 0' --tp 4
shows 'pp 1 x dp 1 x tp 1: 1 rank on 1 node of 1 device'
shows 'node 1 4: 4 0 0 5: 5 0 0 - -' --pp 6 --topology 3x4
shows ' 8: 0 0 8 9: 0 0 9 10: 0 0 10 11: 0 0 11' --tp 12 --topology 1x12
shows 'tensor 1 12 1 12 0 2 us, 300 GB/s 0 1 2 3 4 5 6 7 ...' --tp 12 --topology 1x12
if "$program" grid --pp 6 --topology 3x4 | grep -q 'node 2'; then wrong 'a node without ranks is shown'; else ok; fi

# --- what does not fit
refused 'pp 4 x dp 2 x tp 4 are 32 ranks, and 2 x 8 only 16 devices' --pp 4 --dp 2 --tp 4 --topology 2x8
refused '--pp is 0: expected 1 or more' --pp 0
refused '--dp is -1: expected 1 or more' --dp -1
refused '--tp' --tp two
refused 'are 8192 ranks: expected up to 4096' --pp 8192
refused 'expected up to 4096' --pp 2000000000 --dp 2000000000 --tp 2000000000
refused "'4by8' is not a topology" --topology 4by8
refused "'--bogus' is not known here" --bogus
for file in "$folder/out.png" "$folder/nowhere/out.svg"; do
    if "$program" grid --svg "$file" >/dev/null 2>&1; then wrong "--svg $file: it was accepted"; else ok; fi
done

# --- a picture is the same bytes every time, with a box for each device and a line for each link
for flags in '--pp 4 --dp 2 --tp 4 --topology 4x8:32:72' '--pp 2 --dp 3 --tp 4 --topology 4x6:24:60' '--tp 12:12:12'; do
    IFS=: read -r arguments devices links <<<"$flags"
    # shellcheck disable=SC2086  # arguments are words
    "$program" grid $arguments --svg "$folder/one.svg" >/dev/null && "$program" grid $arguments --svg "$folder/two.svg" >/dev/null
    same_file "$folder/one.svg" "$folder/two.svg"
    if [[ $(grep -c '>rank [0-9]*<' "$folder/one.svg") -eq $devices ]]; then ok; else wrong "$arguments: devices"; fi
    if [[ $(grep -c '<path' "$folder/one.svg") -eq $links ]]; then ok; else wrong "$arguments: links"; fi
    rm -f "$folder"/one.svg "$folder"/two.svg
done

finish
