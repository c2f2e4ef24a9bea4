#!/usr/bin/env bash
# What `shardlings diagnose` says of small MPI programs: watch_test.sh BUILD [NAME…]
set -u
build=${1:?usage: watch_test.sh BUILD [NAME…]}
shift
chosen=" $* "
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
at_once=${WATCH_AT_ONCE:-4}  # most of a test is waiting
number=0
if [[ $build == *mpich* ]]; then
    start=(mpiexec.mpich)
else
    start=(mpirun.openmpi --oversubscribe --bind-to none --mca btl 'self,vader')
    command -v mpirun.openmpi >/dev/null || start[0]=mpirun
fi
flags=()
stop=''

# Processes one of whose arguments is this.
left_of() {
    local file words
    for file in /proc/[0-9]*/cmdline; do
        mapfile -d '' -t words 2>/dev/null <"$file" || continue
        [[ ${words[2]:-} == "$1" ]] && printf '%s ' "${words[*]}"
    done
}

# Asks the supervisor to end, or kills mpirun below it, when it has seen the ranks' records.
stop_it() {  # SUPERVISOR TEMPORARY_FOLDER RANKS
    local launcher
    for ((i = 0; i < 300; ++i)); do
        [[ $(find "$2" -type f -path '*/shardlings-*/*.[0-9]' | wc -l) -ge $3 ]] && break
        sleep 0.05
    done
    sleep 0.5
    if [[ $stop == supervisor ]]; then
        kill -TERM "$1"
    else
        read -r launcher _ <"/proc/$1/task/$1/children"
        kill -KILL "$launcher"
    fi
}

# One program: its exit code (any: of a launcher, which differ), and patterns that its output must hold; with !
# before, must not. Nothing may be left of it: no process, no shared memory, no temporary file.
run() {  # LOG RANKS PROGRAM CASE CODE PATTERN…
    local log=$1 ranks=$2 program=$3 name=$4 wanted=$5 code=0 wrong='' pattern left mark=$1.mark memory=$1.memory
    local where=()
    shift 5
    mkdir "$memory" "$log.tmp"
    [[ ${start[*]} == *mpiexec* ]] || where=(--mca btl_vader_backing_directory "$memory" --mca btl_sm_backing_directory "$memory")
    TMPDIR=$log.tmp timeout 60 "$build/shardlings" diagnose "${flags[@]}" -- "${start[@]}" "${where[@]}" -np "$ranks" \
        "$build/tests/lib/watch/$program" "$name" "$mark" >"$log" 2>&1 &
    if [[ -n $stop ]]; then
        sleep 0.1
        read -r left _ <"/proc/$!/task/$!/children"
        stop_it "$left" "$log.tmp" "$ranks"
    fi
    wait $! || code=$?
    [[ $code -ne 124 ]] || wrong+='it did not end; '
    [[ $wanted == any || $code -eq $wanted ]] || wrong+="exit code $code instead of $wanted; "
    for pattern; do
        if [[ $pattern == '!'* ]]; then
            grep -qE -- "${pattern#!}" "$log" && wrong+="it says \"${pattern#!}\"; "
        else
            grep -qE -- "$pattern" "$log" || wrong+="it does not say \"$pattern\"; "
        fi
    done
    left=$(left_of "$mark")
    [[ -z $left ]] || wrong+="processes are left: $left; "
    left=$(find "$memory" "$log.tmp" -mindepth 1 | head -n 3 | tr '\n' ' ')
    [[ -z $left ]] || wrong+="files are left: $left; "
    if [[ -z $wrong ]]; then
        echo passed >"$log.result"
    else
        { printf 'FAILED  %s on %s ranks: %s\n' "$name" "$ranks" "$wrong"; sed 's/^/        /' "$log"; } >"$log.result"
    fi
}

expect() {  # RANKS PROGRAM CASE CODE PATTERN…
    [[ $chosen == '  ' || $chosen == *" $3 "* ]] || return 0
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n; done
    number=$((number + 1))
    run "$folder/$number" "$@" &
}

deadlock=86
mismatch=87
nothing='!watch:'

# Messages.
expect 4 messages receive_ring $deadlock 'deadlock: 4 of 4' 'rank 0 waits in MPI_Recv from 3, tag 7' \
    'at tests/lib/watch/messages.cpp:[0-9]+ in receive_ring' 'cycle: 0 -> 3 -> 2 -> 1 -> 0'
expect 3 messages long_send_ring $deadlock 'rank 2 waits in MPI_Send to 0, tag 0' 'in long_send_ring' \
    'cycle: 0 -> 1 -> 2 -> 0'
expect 2 messages wrong_tag $deadlock 'rank 1 waits in MPI_Recv from 0, tag 7' 'rank 0 has called MPI_Finalize' \
    'near miss: rank 0 has sent 1 message with tag 8, rank 1 waits for tag 7'
expect 2 messages from_oneself $deadlock 'rank 1 waits in MPI_Recv from 1, tag 0' 'cycle: 1 -> 1'
expect 3 messages any_source $deadlock 'rank 2 waits in MPI_Recv from any rank, any tag'
expect 4 messages one_message_too_few $deadlock 'deadlock: 3 of 4' 'rank 3 waits in MPI_Recv from 0, tag 3'
expect 3 messages sendrecv_wrong_tag $deadlock 'rank 0 waits in MPI_Sendrecv: .*from 2, tag 2' \
    'near miss: rank 2 has sent 1 message with tag 1, rank 0 waits for tag 2'
expect 2 messages probe $deadlock 'rank 0 waits in MPI_Probe from 1, tag 4'
expect 2 messages matched_probe $deadlock 'rank 0 waits in MPI_Mprobe from 1, tag 4'
expect 2 messages iprobe_loop $deadlock 'rank 0 waits in a loop of MPI_Iprobe from 1, tag 4'
expect 3 messages iprobe_all $deadlock 'rank 0 waits in a loop of MPI_Iprobe'
expect 2 messages sleeping_poll $deadlock 'rank 1 waits in a loop of MPI_Iprobe from 0, tag 4'
expect 4 messages among_some $deadlock 'deadlock: 2 of 4' 'cycle: 0 -> 1 -> 0' 'ranks 2, 3 compute'
expect 2 messages peer_at_finalize $deadlock 'rank 1 waits in MPI_Recv from 0, tag 6' 'rank 0 has called MPI_Finalize'
expect 4 messages in_a_half $deadlock 'rank 1 waits in MPI_Recv from 3, tag 9, on the communicator of ranks 1, 3'
expect 2 messages other_communicator $deadlock 'near miss: rank 0 has sent 1 message with tag 7 on the communicator'
expect 3 messages other_of_two $deadlock 'near miss: rank 0 has sent 1 message with tag 2 on the communicator of ranks 0, 1, 2'
expect 2 messages on_idup $deadlock 'rank 1 waits in MPI_Recv from 0, tag 5, on the communicator .*MPI_Comm_idup'
expect 2 messages taken_before $deadlock 'rank 1 waits in MPI_Recv from 0, tag 0'
expect 2 messages synchronous_send $deadlock 'rank 0 waits in MPI_Ssend to 1, tag 0'
expect 3 messages short_send_ring 0 "$nothing"
flags=(--synchronous)
expect 3 messages short_send_ring $deadlock 'rank 0 waits in MPI_Send to 1' 'sends are synchronous'
flags=()

# Requests.
expect 3 requests wait $deadlock 'rank 0 waits in MPI_Wait: MPI_Irecv from 1, tag 2'
expect 3 requests waitall_half $deadlock 'rank 0 waits in MPI_Waitall: MPI_Irecv from 1, tag 2' '!from 2, tag 1'
expect 3 requests waitany $deadlock 'MPI_Waitany: MPI_Irecv from 2, tag 1 or MPI_Irecv from 1, tag 2'
expect 3 requests waitsome $deadlock 'MPI_Waitsome: MPI_Irecv from 2, tag 1 or MPI_Irecv from 1, tag 2'
expect 3 requests test_loop $deadlock 'rank 0 waits in a loop of MPI_Test: MPI_Irecv from 2, tag 1'
expect 3 requests testall_loop $deadlock 'rank 0 waits in a loop of MPI_Testall: MPI_Irecv from 1, tag 2'
expect 3 requests testany_loop $deadlock 'a loop of MPI_Testany: .* or MPI_Irecv from 1, tag 2'
expect 3 requests testsome_loop $deadlock 'a loop of MPI_Testsome: .* or MPI_Irecv from 1, tag 2'
expect 3 requests two_tests $deadlock 'a loop of MPI_Test'
expect 3 requests long_isend $deadlock 'rank 1 waits in MPI_Wait: MPI_Isend to 2, tag 0' 'cycle: 0 -> 1 -> 2 -> 0'
expect 2 requests persistent $deadlock 'rank 0 waits in MPI_Wait: MPI_Recv_init from 1, tag 3'
expect 2 requests persistent_second_time $deadlock 'rank 1 waits in MPI_Waitall: MPI_Recv_init from 0, tag 3'
expect 2 requests leaked 0 'rank 1 never completed the request of MPI_Irecv from 0, tag 3' \
    'at tests/lib/watch/requests.cpp:[0-9]+ in leaked'
# MPICH 4.2 ends with an error of its own.
expect 2 requests unmatched any 'rank 1 never received 2 messages of rank 0 with tag 8'
expect 2 requests cancelled_and_sent any 'rank 1 never received 1 message of rank 0 with tag 3'
expect 2 requests send_buffer_changed 0 'rank 0 wrote to the buffer of MPI_Issend to 1, tag 0, before it was complete'
expect 2 requests receive_buffer_changed 0 'rank 1 wrote to the buffer of MPI_Irecv from 0, tag 0, before'

# Buffers in flight.
for name in long_receive after_arrival received_column persistent_receive; do
    expect 4 buffers "$name" 0 'rank 1 wrote to the buffer of MPI_(Irecv|Recv_init) from 0, tag 1, before it was complete' \
        "at tests/lib/watch/buffers.cpp:[0-9]+ in (receive_column|$name)" '!rank [023] wrote'
done
expect 4 buffers matched_receive 0 'rank 1 wrote to the buffer of MPI_Imrecv' '!rank [023] wrote'
expect 4 buffers sent_column 0 'rank 1 wrote to the buffer of MPI_Issend to 2, tag 1, before' '!rank [023] wrote'
expect 4 buffers short_send 0 'rank 1 wrote to the buffer of MPI_Isend to 2, tag 1, before' '!rank [023] wrote' '!tag [02]'
expect 4 buffers freed_send 0 'rank 1 freed the buffer of MPI_Isend to 2, tag 1, before' '!rank [023] freed'
expect 4 buffers beside_column 0 "$nothing"
expect 4 buffers of_all_kinds 0 "$nothing"
flags=(--no-checksums)
expect 4 buffers after_arrival 0 "$nothing"
expect 4 buffers of_all_kinds 0 "$nothing"
flags=()

# Collectives: one rank does not come, in every one of them, with and without a request.
for name in barrier bcast reduce allreduce gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv \
    alltoallw reduce_scatter reduce_scatter_block scan exscan; do
    # Some ranks may leave their part before all have come; whoever waits, waits for rank 1.
    expect 3 collectives "skipped_$name" $deadlock "waits in MPI_${name^}, the 1st collective on MPI_COMM_WORLD, which .*1" \
        "in skipped_$name"
    expect 3 collectives "skipped_i$name" $deadlock "waits in MPI_Wait: MPI_I$name the 1st collective on MPI_COMM_WORLD"
done
expect 3 collectives skipped_split $deadlock 'rank 0 waits in MPI_Comm_split, the 1st collective on MPI_COMM_WORLD'
expect 3 collectives skipped_at_the_end $deadlock 'rank 1 has called MPI_Finalize' \
    'MPI_Barrier, the 2nd collective on MPI_COMM_WORLD, which rank 1 has not come to'
expect 3 collectives two_orders $deadlock 'rank 0 waits in MPI_Barrier, .* \(MPI_Comm_dup\), which ranks 1, 2 have not'
expect 3 collectives other_collective $mismatch "the ranks' 1st collective on MPI_COMM_WORLD is not the same" \
    'rank 2 called MPI_Barrier' 'rank [01] called MPI_Bcast, root 0, 1 × MPI_INT \(4 bytes\)' 'in other_collective'
expect 3 collectives other_root $mismatch 'rank 1 called MPI_Bcast, root 1' 'rank [02] called MPI_Bcast, root 0'
expect 3 collectives other_count $mismatch 'rank 1 called MPI_Allreduce, 4 × MPI_DOUBLE' '8 × MPI_DOUBLE'
expect 3 collectives other_type $mismatch 'rank 0 called MPI_Allreduce, 4 × MPI_INT' '4 × MPI_FLOAT'
expect 3 collectives other_reduction $mismatch 'rank 1 called MPI_Allreduce, .*, MPI_MAX' '16 bytes\), MPI_SUM'
expect 3 collectives gatherv_too_much $mismatch 'rank 1 sends 8 bytes to rank 0, which expects 4' 'in gatherv_too_much'
expect 3 collectives scatterv_too_little $mismatch 'rank 0 sends 4 bytes to rank 2, which expects 0'
expect 3 collectives alltoallv_unequal $mismatch 'rank 2 sends 0 bytes to rank [01], which expects 4'
expect 3 collectives same_bytes 0 "$nothing"
expect 3 collectives all_of_them 0 "$nothing"

# Programs of many kinds with a mistake each, and all of them without.
expect 4 kinds none 0 "$nothing"
expect 4 kinds workers $deadlock 'rank [123] waits in MPI_Recv from 0, any tag' 'rank 0 has called MPI_Finalize'
expect 4 kinds consensus $deadlock 'rank 3 waits in a loop of MPI_Improbe: from any rank, tag 8' \
    'near miss: rank 2 has sent 1 message with tag 7, rank 3 waits for tag 8'
expect 4 kinds buffered $deadlock 'rank 0 waits in MPI_Recv from 1, tag 3' 'cycle: 0 -> 1 -> 2 -> 3 -> 0'
expect 4 kinds ready $deadlock 'rank 2 waits in MPI_Waitall: MPI_Irecv from 1, tag 3'
expect 4 kinds empty $deadlock 'rank 0 waits in MPI_Ssend to 1, tag 2' 'cycle: 0 -> 1 -> 2 -> 3 -> 0'
expect 4 kinds grid $deadlock 'near miss: rank 0 has sent 1 message with tag 2, rank 2 waits for tag 1'
expect 4 kinds in_place $deadlock 'rank 3 waits in MPI_Allreduce, the 12th collective .* rank 1 has not come to'
for name in neighbours cart_neighbours graph_neighbours; do
    expect 4 kinds "$name" $deadlock 'rank [02] waits in MPI_Neighbor_alltoall, the 2nd .* rank 1 has not come to' \
        '!rank 3 waits in MPI_Neighbor'
done
expect 4 kinds ineighbours $deadlock 'rank [02] waits in MPI_Wait: MPI_Ineighbor_alltoall the 2nd .* rank 1 has not come'
expect 4 kinds errors $deadlock 'rank [012] waits in MPI_Barrier, .* which rank 3 has not come to'
expect 4 kinds groups $deadlock 'rank 0 waits in MPI_Recv from 1, tag 2, on a communicator'
expect 4 kinds some $deadlock 'near miss: rank 1 has sent 1 message with tag 2, rank 3 waits for tag 3'

# Written with the project's Comm: the lines are those of its user.
expect 4 comm comm_receive_ring $deadlock 'cycle: 0 -> 3 -> 2 -> 1 -> 0' \
    'at tests/lib/watch/comm.cpp:[0-9]+ in receive_ring' '!lib/machine/comm'
expect 3 comm comm_barrier $deadlock 'MPI_Barrier, the .* collective on .* which rank 1 has not come to' \
    'rank 1 waits in .*from 0' 'in barrier_of_all_but_one'

# Ends.
expect 3 ends crash any 'rank 1 crashed: Segmentation fault \(signal 11\)' 'at tests/lib/watch/ends.cpp:[0-9]+ in crash'
expect 3 ends abort_call any 'rank 1 crashed: Aborted \(signal 6\)' 'in abort_call'
expect 3 ends stack_overflow any 'rank 1 crashed: Segmentation fault' 'in too_deep'
expect 3 ends exit_early any 'rank 1 left by exit\(3\) without MPI_Finalize' 'in exit_early'
expect 3 ends killed any 'rank 1 ended without MPI_Finalize'
expect 3 ends mpi_abort any 'rank 1 called MPI_Abort with code 5' 'in mpi_abort'
expect 3 ends late_exit $deadlock 'rank 0 left by exit\(3\) without MPI_Finalize' 'in late_exit' \
    'the job does not end: ranks 1, 2 wait in MPI_Finalize for rank 0'
# An mpirun that does not end after its ranks.
{
    echo "#!$(command -v bash)"
    echo "\"\$@\"; mkfifo $folder/pipe; read -r -t 40 _ <>$folder/pipe"
} >"$folder/mpirun"
chmod +x "$folder/mpirun"
usual=("${start[@]}")
start=("$folder/mpirun" "${start[@]}")
expect 2 ends mpi_abort 5 'rank 1 called MPI_Abort with code 5' 'all ranks have ended and mpirun has not'
start=("${usual[@]}")
expect 2 ends daemon_stays 0 "$nothing"
expect 2 ends daemon_and_deadlock $deadlock 'deadlock: 2 of 2'
expect 2 ends ignores_sigterm $deadlock 'deadlock: 2 of 2'
expect 2 ends before_init any "$nothing"
for stop in supervisor mpirun; do expect 3 ends computes any '!deadlock'; done
stop=''
expect 2 ends shorten_record any
expect 2 ends fill_record any

# Nothing wrong.
for name in ring slow_rank slow_master halo many_tags many_requests communicators communicators_of_pairs \
    failed_on_one left_and_forgotten persistent cancelled matched_probe sleeper; do
    expect 4 correct "$name" 0 "$nothing"
done
expect 2 correct computes_and_asks 0 "$nothing"

# Nothing known: who waits in such a call may always go on.
for name in fences locks neighbours only_neighbours between_groups made_by_some files asked_and_matched \
    cancelled_before until_a_time generalized truncated threads; do
    expect 4 unknown "$name" 0 "$nothing"
done

wait
failed=0
for ((i = 1; i <= number; ++i)); do
    grep -qx passed "$folder/$i.result" && continue
    failed=$((failed + 1))
    cat "$folder/$i.result"
done
printf '%s passed, %s failed\n' $((number - failed)) "$failed"
[[ $failed -eq 0 ]]
