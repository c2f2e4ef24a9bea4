#include "tests/05_zero/values_check.hpp"

#include <memory>
#include <sstream>

#include "tests/05_zero/values_expected.hpp"

namespace zero_test {

namespace {

const Words words{"parameters",
                  "fetch what a pass needs beside the pass before it, and wait for nothing else",
                  "a pass must not begin before its buckets have come",
                  "is a bucket fetched that is there already, or that no pass reads?",
                  "is a bucket that the next pass needs not on its way?"};

/// Goes through a case's moments in their order and stops at the first that is wrong.
class ValuesCheck {
  public:
    ValuesCheck(const ValuesCase& one, const Geometry& geometry, const CaseResult& result)
        : case_(one),
          geometry_(geometry),
          model_(one.setup, geometry, one.broadcast),
          ranks_(members(result, one.setup.degree))
    {
    }

    std::vector<std::string> problems()
    {
        check_moment("made", "after make_sharded_values");
        check_shards("made", "after make_sharded_values");
        std::istringstream actions(case_.actions);
        std::string what;
        for (int k = 0; found_.empty() && actions >> what; ++k) run_action(k, what);
        check_shards("end", "in the end");
        for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r)
            if (moment_of(*ranks_[r], "gone").bytes > 0) add(r, "parameters are left when all is destroyed");
        return found_;
    }

  private:
    void run_action(int k, const std::string& what)
    {
        if (what == "train")
            for (std::int64_t m = 0; m < case_.setup.micro_batches; ++m) run_passes(k, m, true);
        if (what == "evaluate") run_passes(k, 0, false);
        if (what == "release") model_.leave({});
        if (what == "change") factor_ *= 2.0;
        check_moment(fmt::format("{} done", k), what == "release" ? "after release()" : "after all passes");
    }

    void run_passes(int k, std::int64_t micro_batch, bool backward)
    {
        const std::vector<PassOf> all = passes_of(geometry_.used.size(), micro_batch, backward);
        for (std::size_t i = 0; i < all.size() && found_.empty(); ++i) {
            const PassOf& pass = all[i];
            BucketList next;  // the last module's backward pass may always follow its forward pass
            if (i + 1 < all.size()) next = model_.needs(all[i + 1].pass, all[i + 1].module);
            if (i + 1 == all.size() && !backward) next = model_.needs('b', pass.module);
            const BucketList now = model_.needs(pass.pass, pass.module);
            model_.enter(now, next);
            if (!now.empty()) check_parameters(fmt::format("{} {} ", k, pass.key()), pass);
            check_moment(fmt::format("in {} {}", k, pass.key()), "in " + pass.name());
            model_.compute(pass.module);
            model_.leave(next);
            check_moment(fmt::format("after {} {}", k, pass.key()), "after " + pass.name());
        }
    }

    void check_parameters(const std::string& prefix, const PassOf& pass)
    {
        for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r)
            for (const std::size_t b : geometry_.used[pass.module])
                for (const FlatEntry& entry : geometry_.buckets[b].entries) {
                    const std::string key = prefix + entry.parameter->name;
                    if (!ranks_[r]->outputs.contains(key)) continue;  // another module's
                    const auto got = ranks_[r]->outputs.at(key).get<std::vector<double>>();
                    const std::string wrong =
                        compare_parameter(case_.setup, geometry_, b, entry, factor_, got);
                    if (!wrong.empty()) add(r, "in " + pass.name() + " " + wrong);
                }
    }

    void check_moment(const std::string& moment, const std::string& when)
    {
        for (std::size_t r = 0; r < ranks_.size() && found_.empty(); ++r) {
            const std::string wrong = compare_moment(moment_of(*ranks_[r], moment), model_.moment(r), words);
            if (!wrong.empty()) add(r, when + " " + wrong);
        }
    }

    void check_shards(const std::string& key, const std::string& when)
    {
        for (std::size_t r = 0; r < ranks_.size(); ++r)
            for (std::size_t b = 0; b < geometry_.buckets.size() && found_.empty(); ++b) {
                const json& outputs = ranks_[r]->outputs;
                const auto part = outputs.at(fmt::format("{} part {}", key, b)).get<std::vector<double>>();
                const auto got = outputs.at(fmt::format("{} shard {}", key, b)).get<std::vector<double>>();
                const std::string wrong =
                    compare_shard(case_.setup, geometry_, b, static_cast<int>(r), factor_, part, got);
                if (!wrong.empty()) add(r, when + " " + wrong);
            }
    }

    void add(std::size_t rank, const std::string& message)
    {
        found_.push_back(on_rank(static_cast<int>(rank), message));
    }

    const ValuesCase& case_;
    const Geometry& geometry_;
    ValuesModel model_;
    std::vector<const RankResult*> ranks_;
    double factor_ = 1.0;  // of all values, by the changes so far
    std::vector<std::string> found_;
};

}  // namespace

NamedCase values_case(const ValuesCase& one)
{
    NamedCase named;
    named.name = fmt::format("{}{}, {}", one.setup.name(), one.broadcast ? ", broadcast" : "", one.actions);
    named.if_stuck = "Every rank must fetch the same buckets in the same order.";
    named.input =
        case_input(one.setup, "values",
                   {{"actions", one.actions}, {"fetch", one.broadcast ? "broadcast" : "all_gather"}});
    const auto geometry = std::make_shared<const Geometry>(one.setup);
    named.check = [=](const CaseResult& result) { return ValuesCheck(one, *geometry, result).problems(); };
    return named;
}

}  // namespace zero_test
