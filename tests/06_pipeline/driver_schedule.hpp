// Case operations on numbers and lists: which blocks a stage gets, and what it does when.
#pragma once

#include "lessons/06_pipeline/stages.hpp"
#include "lib/tools/grade/driver.hpp"
#include "tests/06_pipeline/schedule_data.hpp"

namespace pipeline_test {

using namespace grade;

inline ModelShape shape_of(Case& c)
{
    return {c.integer("layers"), c.integer("hidden"), c.integer("heads"), c.integer("tokens"),
            c.integer("vocabulary")};
}

/// An empty schedule of the case's sizes.
inline Schedule sizes_of(Case& c)
{
    return {static_cast<int>(c.integer("stages")),
            static_cast<int>(c.integer("micro_batches")),
            static_cast<int>(c.integer("chunks")),
            {}};
}

/// The schedule that is the case's input.
inline Schedule schedule_of(Case& c)
{
    Schedule schedule = sizes_of(c);
    for (std::size_t s = 0; s < static_cast<std::size_t>(c.integer("programs")); ++s)
        schedule.programs.push_back(program_of(c.numbers(program_name(s))));
    return schedule;
}

inline void put_schedule(Case& c, const Schedule& schedule)
{
    c.put("sizes", std::vector<double>{static_cast<double>(schedule.stages),
                                       static_cast<double>(schedule.micro_batches),
                                       static_cast<double>(schedule.chunks)});
    for (std::size_t s = 0; s < schedule.programs.size(); ++s)
        c.put(program_name(s), numbers_of(schedule.programs[s]));
}

/// Calls; the message of the Error that it ends with, if it does, is the output "refusal", else there is an
/// output "accepted".
template <class Function>
void put_refusal(Case& c, const Function& call)
{
    try {
        call();
        c.put("accepted", 1.0);
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        c.put("refusal", std::string(error.what()));
    }
}

inline void flops(Case& c)
{
    c.put("block", pipeline::block_flops(shape_of(c)));
    c.put("head", pipeline::head_flops(shape_of(c)));
}

/// For each number of chunks of a list.
inline void balance_blocks(Case& c)
{
    for (const std::int32_t chunks : c.ids("chunks")) {
        const std::vector<std::int64_t> blocks = pipeline::balance_blocks(shape_of(c), chunks);
        c.put(fmt::format("blocks {}", chunks), std::vector<double>(blocks.begin(), blocks.end()));
    }
}

inline void balance_refused(Case& c)
{
    put_refusal(c, [&] { pipeline::balance_blocks(shape_of(c), static_cast<int>(c.integer("chunks"))); });
}

/// One pass behind what is in the program already.
inline void append_pass(Case& c)
{
    Program program = program_of(c.numbers("before"));
    pipeline::append_pass(sizes_of(c), static_cast<int>(c.integer("stage")),
                          c.flag("forward") ? Action::forward : Action::backward,
                          static_cast<int>(c.integer("micro_batch")), static_cast<int>(c.integer("chunk")),
                          program);
    c.put(program_name(0), numbers_of(program));
}

inline void naive_schedule(Case& c)
{
    put_refusal(c, [&] {
        put_schedule(c, pipeline::naive_schedule(static_cast<int>(c.integer("stages")),
                                                 static_cast<int>(c.integer("micro_batches"))));
    });
}

}  // namespace pipeline_test
