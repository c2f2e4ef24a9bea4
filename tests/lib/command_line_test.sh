#!/usr/bin/env bash
# What is wrong with a command line is said once, with what was meant; a shell completes what there is:
# command_line_test.sh BUILD
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

# The command must end with code 2 and these first words.
refused() {  # MESSAGE ARGUMENT…
    local message=$1 output code=0
    shift
    output=$("$program" "$@" 2>&1) || code=$?
    equal "$*: exit code" 2 "$code"
    equal "$*" "$message" "${output%%$'\n'*}"
}
refused "shardlings: 'trian' is not known here: did you mean train?" trian --layers 2
refused "shardlings train: '--layer' is not known here: did you mean --layers?" train --layer 2
refused "shardlings train: '--hiden' is not known here: did you mean --hidden?" train --hiden=2
refused "shardlings course: 'tst' is not known here: did you mean test?" course tst
refused "shardlings grid: '--unheard-of' is not known here" grid --unheard-of
refused "shardlings: expected a subcommand, as in shardlings train"
refused "shardlings train: --layers is 'x': expected a whole number" train --layers x
refused "shardlings train: --lr is 'fast': expected a number" train --lr fast
refused "shardlings train: --layers is there 2 times: expected once" train --layers 1 --layers 2
refused "shardlings train: 'KiB' belongs to no flag: a value with a space in it needs quotes" train --memory-budget 10 KiB
refused "shardlings train: --seed is '-1': expected a whole number of 0 or more" train --seed -1
refused "shardlings launch: --ranks is required" launch -- nosuch
refused "shardlings grade: '--jsn' is not known here: did you mean --json?" grade --jsn out.json
equal "--help succeeds" "train a GPT-2 style model on the bytes of a text" "$("$program" train --help | head -n 1)"

on_ranks=$("$program" launch --ranks 3 -- "$program" train --layer 2 2>&1)
equal "ranks say it once" 1 "$(grep -c 'did you mean --layers' <<<"$on_ranks")"
on_ranks=$("$program" launch --ranks 2 -- "$program" train --dp 2 --zero 7 2>&1)
equal "ranks say a wrong value once" 1 "$(grep -c 'zero is 7: expected 0, 1, 2 or 3' <<<"$on_ranks")"
on_ranks=$("$program" launch --ranks 2 -- env -u SHARDLINGS_RUN_DIR "$program" train --dp 2 --data /nosuch 2>&1)
equal "ranks of a launcher of one's own say it once" 1 "$(grep -c "there is no file '/nosuch'" <<<"$on_ranks")"

# shellcheck source=/dev/null
source <("$program" completion bash)
completed() {  # WORD… : what the last one may become
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _shardlings
    printf '%s' "${COMPREPLY[*]}"
}
equal "a subcommand" "train" "$(completed shardlings tr)"
equal "a flag" "--layers" "$(completed shardlings train --steps 3 --lay)"
equal "a subcommand's subcommand" "judge-wrong judge-skeletons" "$(completed shardlings course judge-)"
equal "a flag of it" "--verbose" "$(completed shardlings course test 03 --ver)"
equal "no flag that --help does not show" "" "$(completed shardlings verify --cas)"
equal "files where a value stands" "" "$(completed shardlings train --data REA)"
equal "after a value that is also a command's name" "--sweep" "$(completed shardlings verify --data train --sw)"
equal "a path to the program" "complete -o default -F _shardlings shardlings" "$(complete -p shardlings)"
"$program" completion fish >/dev/null 2>&1
equal "another shell is refused" 1 $?
for command in $("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]*\) .*/\1/p'); do
    equal "$command: a flag of it" "--help" "$(completed shardlings "$command" --hel)"
done

finish
