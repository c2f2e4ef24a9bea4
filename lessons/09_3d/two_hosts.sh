#!/usr/bin/env bash
# A run on two hosts beside the single process: two_hosts.sh BUILD. The hosts are network namespaces of this machine,
# joined by a virtual cable; mpirun starts ranks on the other one as it would through ssh, and they talk by TCP.
# Exit 0 when they agree, and, with a word, where hosts cannot be made; 1 when they do not.
set -eu
build=$(realpath "${1:?usage: two_hosts.sh BUILD}")
alpha=shardlings-alpha-$$ beta=shardlings-beta-$$
folder=$(mktemp -d)

skip() {
    echo "two-hosts: skipped: $*"
    exit 0
}

clean_up() {
    ip netns del "$alpha" 2>/dev/null || true
    ip netns del "$beta" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT

make_hosts() {
    ip netns add "$alpha" && ip netns add "$beta" &&
        ip link add cable netns "$alpha" type veth peer name cable netns "$beta" &&
        ip -n "$alpha" address add 10.213.7.1/24 dev cable && ip -n "$beta" address add 10.213.7.2/24 dev cable &&
        ip -n "$alpha" link set lo up && ip -n "$beta" link set lo up &&
        ip -n "$alpha" link set cable up && ip -n "$beta" link set cable up &&
        ip netns exec "$alpha" unshare --uts hostname host-alpha
}

[[ $(id -u) -eq 0 ]] || skip "only root makes network namespaces"
command -v ip >/dev/null || skip "there is no ip (Debian: apt install iproute2)"
command -v unshare >/dev/null || skip "there is no unshare (Debian: apt install util-linux)"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun is not OpenMPI's"
make_hosts >"$folder/said" 2>&1 || skip "no network namespaces here: $(tail -n 1 "$folder/said")"

# In place of ssh: mpirun calls it with options, the host and a command line. The other host is always beta.
cat >"$folder/agent" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
shift
exec ip netns exec $beta unshare --uts bash -c 'hostname host-beta; eval "\$*"' agent "\$@"
END
chmod +x "$folder/agent"
export OMPI_MCA_plm_rsh_agent=$folder/agent PRTE_MCA_plm_ssh_agent=$folder/agent
printf '10.213.7.1 slots=4\n10.213.7.2 slots=4\n' >"$folder/hosts"

head -c 4000 lessons/00_devices/README.md >"$folder/text"
step=(train --layers 4 --hidden 32 --heads 4 --seq 16 --batch 8 --microbatches 2 --steps 2 --dtype fp64
    --data "$folder/text")
layout=(--pp 2 --dp 2 --tp 2 --zero 1 --schedule 1f1b)
sent() { ip netns exec "$alpha" cat /sys/class/net/cable/statistics/tx_bytes; }

"$build/shardlings" "${step[@]}" --json "$folder/one.json" >/dev/null
before=$(sent)
# shellcheck disable=SC2016  # expands in the other shell
ip netns exec "$alpha" unshare --uts bash -c 'hostname host-alpha; exec "$@"' shardlings \
    "$build/shardlings" "${step[@]}" "${layout[@]}" --hostfile "$folder/hosts" --json "$folder/two.json" |
    tee "$folder/said" | grep hosts
"$build/lessons/09_3d/beside" "$folder/one.json" "$folder/two.json"
crossed=$(($(sent) - before))
counted=$(python3 -c 'import json, sys
print(sum(rank["sent"]["inter_node_bytes"] for rank in json.load(open(sys.argv[1]))["ranks"] if rank["rank"] < 4))' \
    "$folder/two.json")
echo "$crossed bytes went over the cable from the first host; its ranks counted $counted bytes between nodes."
[[ $crossed -gt $counted && $counted -gt 0 ]]
