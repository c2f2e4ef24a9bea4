// What a driver's Watch wrote in and after every pass, held to what is expected.
#pragma once

#include "tests/05_zero/setup.hpp"

namespace zero_test {

/// A pass of a step: 'f' or 'b' of a module over a micro-batch.
struct PassOf {
    char pass;
    std::size_t module;
    std::int64_t micro_batch;

    std::string key() const { return name_of_pass(pass, module, micro_batch); }
    /// "the forward pass of module 2, micro-batch 1"
    std::string name() const;
};

/// The passes over one micro-batch: forward from the first module, and backward from the last.
std::vector<PassOf> passes_of(std::size_t modules, std::int64_t micro_batch, bool backward);

/// Since the moment before: see Watch.
struct Moment {
    std::uint64_t bytes, peak, communication;
    double clock;
    std::uint64_t messages, sent, control, control_bytes;
};

/// Error when there is none of this name: the passes did not run in the order of the lesson.
Moment moment_of(const RankResult& rank, const std::string& name);

struct ExpectedMoment {
    std::uint64_t least = 0;  // bytes now
    std::uint64_t most = 0;
    std::uint64_t peak = 0;           // bytes since the moment before, at most
    std::uint64_t communication = 0;  // peak of the category communication, at most
    double clock = 0.0;
    std::uint64_t messages = 0;  // over group.data, since the moment before
    std::uint64_t sent = 0;      // bytes
    std::string held;            // what the bytes are
    const Geometry* geometry = nullptr;
    int degree = 1;
};

/// How a part's messages say what is wrong.
struct Words {
    std::string category;     // "parameters"
    std::string late, early;  // what a clock that is ahead of, behind what is expected means
    std::string more, fewer;  // what more, fewer bytes than expected over group.data mean
};

/// Empty, or the first thing that is not as expected.
std::string compare_moment(const Moment& got, const ExpectedMoment& expected, const Words& words);

}  // namespace zero_test
