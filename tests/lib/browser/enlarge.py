"""A page's data made as large as a page may be expected to get."""


def enlarged(data):
    """The same run as if it had 32 ranks on 4 nodes and 1000 instructions on each."""
    timeline = data["timeline"]
    length = timeline["length"]

    def filled(lane):
        times = -(-1000 * 3 // max(3, len(lane)))
        numbers, at, begin = [], 0, 0
        for turn in range(times):
            begin = 0
            for i in range(0, len(lane), 3):
                begin += lane[i]
                numbers += [turn * length + begin - at, lane[i + 1], lane[i + 2]]
                at = turn * length + begin
        return numbers[:3000], times

    old = data["ranks"]
    times = max(filled(rank["compute"])[1] for rank in timeline["ranks"])
    data["ranks"] = [dict(old[rank % len(old)], rank=rank, coordinates={"pp": rank // 8, "dp": rank // 4 % 2, "tp": rank % 4})
                     for rank in range(32)]
    for rank in data["ranks"]:
        rank["sent_to"] = [dict(to, rank=(to["rank"] + rank["rank"]) % 32) for to in rank["sent_to"]]
    data["cluster"] = {"nodes": 4, "devices_per_node": 8}
    timeline["ranks"] = [dict(timeline["ranks"][rank % len(old)], compute=filled(timeline["ranks"][rank % len(old)]["compute"])[0])
                         for rank in range(32)]
    timeline["length"] = length * times
    data["memory"]["ranks"] = [data["memory"]["ranks"][rank % len(old)] for rank in range(32)]
    return data
