// The judge's side of the pipes to a driver in a sandbox.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/tools/grade/judge_ledger.hpp"
#include "lib/tools/grade/outcome.hpp"
#include "lib/tools/grade/sandbox.hpp"

namespace grade {

/// Gives each rank its inputs and takes what it tells, on a thread of its own, while the driver runs. A
/// result gets an error when a rank's counters are not those of what it told, and "heap_peak" and "timeline"
/// (judge_timeline.hpp) among what was measured.
class Pipes {
  public:
    /// `cases` as judge.cpp describes them. Makes the pipes in `inside`, a folder of the sandbox's. What
    /// comes is put into `outcomes`, which has a place for each rank of each case, and noted as progress of
    /// `folder`.
    Pipes(const Sandbox& sandbox, const std::filesystem::path& inside, const json& cases,
          const std::string& folder, Outcomes& outcomes);
    /// Takes what is left in the pipes, of a driver that has ended, and tells what ranks did in cases that
    /// they have not finished.
    ~Pipes();
    Pipes(const Pipes&) = delete;
    Pipes& operator=(const Pipes&) = delete;

  private:
    struct Rank;
    void serve(const std::stop_token& stopped);
    bool give_inputs(Rank& rank);
    bool take_frames(int rank);
    bool take_frame(int rank, const Frame& frame, std::string_view text);
    bool take_result(int rank, std::size_t index, std::string_view cbor);
    void begin_case(int rank, std::size_t index);

    const json& cases_;
    std::string folder_;
    Outcomes& outcomes_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::jthread thread_;
};

}  // namespace grade
