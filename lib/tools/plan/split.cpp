#include "lib/tools/plan/split.hpp"

#include "lib/machine/base/error.hpp"

namespace shardlings::plan {

namespace {

void check_divides(std::string_view part, std::int64_t value, std::string_view by, std::int64_t divisor)
{
    check(divisor >= 1 && value % divisor == 0, "{} {} not divisible by {} {}", value, part, by, divisor);
}

}  // namespace

std::string_view name_of(Schedule schedule)
{
    switch (schedule) {
        case Schedule::gpipe:
            return "gpipe";
        case Schedule::one_forward_one_backward:
            return "1f1b";
        case Schedule::interleaved:
            return "interleaved";
    }
    return "";
}

std::string_view name_of(Recompute recompute)
{
    switch (recompute) {
        case Recompute::none:
            return "none";
        case Recompute::selective:
            return "selective";
        case Recompute::full:
            return "full";
    }
    return "";
}

Schedule parse_schedule(std::string_view name)
{
    for (const Schedule schedule :
         {Schedule::gpipe, Schedule::one_forward_one_backward, Schedule::interleaved})
        if (name == name_of(schedule)) return schedule;
    throw Error(fmt::format("--schedule is '{}': expected gpipe, 1f1b or interleaved", name));
}

Recompute parse_recompute(std::string_view name)
{
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
        if (name == name_of(recompute)) return recompute;
    throw Error(fmt::format("--recompute is '{}': expected none, selective or full", name));
}

std::string text_of(const Split& s)
{
    std::string text = fmt::format("pp {}, dp {}, tp {}, ZeRO {}", s.pp, s.dp, s.tp, s.zero);
    if (s.pp > 1) text += fmt::format(", {}", name_of(s.schedule));
    if (s.virtual_stages > 1) text += fmt::format(" {}", s.virtual_stages);
    text += fmt::format(", micro-batch {}, recompute {}", s.micro_batch, name_of(s.recompute));
    if (s.sequence_parallel) text += ", sequence-parallel";
    return text;
}

void check_split(const Run& run, const Split& s)
{
    const Model& m = run.model;
    for (const auto& [name, value] : {std::pair{"--pp", s.pp}, {"--dp", s.dp}, {"--tp", s.tp}})
        check(value >= 1 && value <= 1'000'000, "{} is {}: expected 1 to 1000000", name, value);
    check(s.zero >= 0 && s.zero <= 3, "--zero is {}: expected 0, 1, 2 or 3", s.zero);
    check(s.micro_batch >= 1 && s.micro_batch <= 100'000'000, "--micro-batch is {}: expected 1 to 100000000",
          s.micro_batch);
    check(s.virtual_stages >= 1 && s.virtual_stages <= m.layers, "--virtual-stages is {}: expected 1 to {}",
          s.virtual_stages, m.layers);
    check(run.batch >= 1 && run.batch <= 100'000'000, "--batch is {}: expected 1 to 100000000", run.batch);
    check_divides("heads are", m.heads, "--tp", s.tp);
    check_divides("heads of keys and values are", m.kv_heads, "--tp", s.tp);
    check_divides("columns of the MLP are", m.mlp, "--tp", s.tp);
    check_divides("layers are", m.layers, "--pp times --virtual-stages,", s.pp * s.virtual_stages);
    check_divides("sequences of --batch are", run.batch, "--dp times --micro-batch,", s.dp * s.micro_batch);
    check(!s.sequence_parallel || s.tp > 1, "--sequence-parallel needs --tp 2 or more");
    if (s.sequence_parallel)
        check_divides("tokens of a micro-batch are", s.micro_batch * m.sequence,
                      "--sequence-parallel over --tp", s.tp);
    const bool interleaved = s.schedule == Schedule::interleaved;
    check(interleaved == (s.virtual_stages > 1) && (!interleaved || s.pp > 1),
          "--schedule {} with --virtual-stages {} and --pp {}: interleaved, and it alone, has 2 or more "
          "chunks on each of 2 or more stages",
          name_of(s.schedule), s.virtual_stages, s.pp);
    if (interleaved)
        check_divides("micro-batches of an interleaved schedule are", s.micro_batches(run), "--pp", s.pp);
}

}  // namespace shardlings::plan
