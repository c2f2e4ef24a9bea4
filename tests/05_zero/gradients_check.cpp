#include "tests/05_zero/gradients_check.hpp"

#include <memory>

namespace zero_test {

namespace {

const Words words{"gradients", "wait for a reduction only where its memory is needed, or in finish()",
                  "the next bucket's memory is taken, or finish() returns, before the reduction is done",
                  "is a bucket reduced twice, or before its last micro-batch?",
                  "a bucket whose last gradient is there must be reduced at once"};

/// Goes through a case's moments in their order and stops at the first that is wrong.
class GradientsCheck {
  public:
    GradientsCheck(const GradientsCase& one, const Geometry& geometry, const CaseResult& result)
        : one_(one), geometry_(geometry), model_(one, geometry), ranks_(members(result, one.setup.degree))
    {
    }

    std::vector<std::string> problems()
    {
        check_moment("made", "after make_sharded_gradients");
        for (std::int64_t step = 0; step < one_.steps && found_.empty(); ++step) {
            for (std::int64_t m = 0; m < one_.setup.micro_batches; ++m) run_passes(step, m);
            check_moment(fmt::format("{} passes", step), "after the last backward pass");
            model_.finish();
            check_moment(fmt::format("{} finish", step), "after finish()");
            check_sums(step);
        }
        for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r)
            if (moment_of(*ranks_[r], "gone").bytes > 0) add(r, "gradients are left when all is destroyed");
        return found_;
    }

  private:
    void run_passes(std::int64_t step, std::int64_t micro_batch)
    {
        const bool reduces = one_.accumulate_in_shards || micro_batch + 1 == one_.setup.micro_batches;
        for (const PassOf& pass : passes_of(geometry_.used.size(), micro_batch, true)) {
            if (!found_.empty()) return;
            const bool backward = pass.pass == 'b';
            if (backward) model_.enter(pass.module);
            if (backward) check_moment(fmt::format("in {} {}", step, pass.key()), "in " + pass.name());
            model_.compute(pass.module);
            if (backward) model_.leave(pass.module, reduces);
            check_moment(fmt::format("after {} {}", step, pass.key()), "after " + pass.name());
        }
    }

    void check_moment(const std::string& moment, const std::string& when)
    {
        for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r) {
            const std::string wrong = compare_moment(moment_of(*ranks_[r], moment), model_.moment(r), words);
            if (!wrong.empty()) add(r, when + " " + wrong);
        }
    }

    void check_sums(std::int64_t step)
    {
        for (std::size_t b = 0; b < geometry_.buckets.size(); ++b)
            for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r) {
                const json& outputs = ranks_[r]->outputs;
                const auto part = outputs.at(fmt::format("{} part {}", step, b)).get<std::vector<double>>();
                const auto got = outputs.at(fmt::format("{} sum {}", step, b)).get<std::vector<double>>();
                const std::string wrong =
                    compare_sum(one_, geometry_, b, static_cast<int>(r), step, part, got);
                if (!wrong.empty()) add(r, fmt::format("in step {} {}", step + 1, wrong));
            }
    }

    void add(std::size_t rank, const std::string& message)
    {
        found_.push_back(on_rank(static_cast<int>(rank), message));
    }

    const GradientsCase& one_;
    const Geometry& geometry_;
    GradientsModel model_;
    std::vector<const RankResult*> ranks_;
    std::vector<std::string> found_;
};

}  // namespace

NamedCase gradients_case(const GradientsCase& one)
{
    NamedCase named;
    named.name = one.name();
    named.if_stuck = "Every rank must reduce the same buckets in the same order.";
    named.input = case_input(one.setup, "gradients",
                             {{"gradient_buckets", one.gradient_buckets},
                              {"accumulate_in_shards", one.accumulate_in_shards},
                              {"digits", one.digits},
                              {"fetch", "all_gather"},
                              {"steps", one.steps}});
    const auto geometry = std::make_shared<const Geometry>(one.setup);
    named.check = [=](const CaseResult& result) { return GradientsCheck(one, *geometry, result).problems(); };
    return named;
}

}  // namespace zero_test
