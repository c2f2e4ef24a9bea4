#include <numeric>
#include <sstream>

#include "lessons/06_pipeline/stages.hpp"
#include "tests/09_3d/pieces.hpp"

using namespace grid_test;

namespace {

/// A model in chunks over pp stages, each cut over tp ranks.
struct CountsRun {
    GridRun grid;
    int chunks = 1;  // of a stage
};

std::vector<std::string> names_of_model(const ModelShape& shape)
{
    std::vector<std::string> names;
    const Modules modules = transformer::make_gpt(shape);
    for (const Parameter* parameter : parameters_of(modules)) names.push_back(parameter->name);
    return names;
}

std::vector<std::string> names_of(const json& text)
{
    std::istringstream stream(text.get<std::string>());
    std::vector<std::string> names;
    for (std::string name; std::getline(stream, name, '|');) names.push_back(name);
    return names;
}

std::string place_of(int stage, int tensor_rank)
{
    return fmt::format("stage {}, tensor-parallel rank {}", stage, tensor_rank);
}

/// Who has counted every element of the model.
class Ledger {
  public:
    explicit Ledger(const ModelShape& shape)
    {
        const Modules modules = transformer::make_gpt(shape);
        for (const Parameter* parameter : parameters_of(modules))
            counted_[parameter->name].resize(static_cast<std::size_t>(parameter->elements()));
    }

    void count(const std::string& name, const Slice& slice, const std::string& by)
    {
        slice.for_each_run([&](std::int64_t, std::int64_t global, std::int64_t count) {
            for (std::int64_t i = global; i < global + count; ++i)
                counted_.at(name)[static_cast<std::size_t>(i)].push_back(by);
        });
    }

    std::vector<std::string> problems() const
    {
        std::vector<std::string> messages;
        for (const auto& [name, elements] : counted_)
            for (std::size_t i = 0; i < elements.size(); ++i) {
                if (elements[i].size() == 1) continue;
                std::string message = fmt::format("element {} of {} is counted {} times in the norm", i, name,
                                                  elements[i].size());
                for (std::size_t k = 0; k < elements[i].size(); ++k)
                    message += (k == 0 ? ": by " : " and by ") + elements[i][k];
                messages.push_back(message + ", expected once");
                break;
            }
        return messages;
    }

  private:
    std::map<std::string, std::vector<std::vector<std::string>>> counted_;
};

/// The names of one rank, of a stage and a tensor-parallel rank.
struct Counted {
    const GridRun& grid;
    const json& out;
    int stage, tensor_rank;
    std::vector<std::string> model{};  // all names of the model
    std::vector<std::string> names{};  // what counted_names gave

    /// Whether the rank has the parameter, and all of it.
    bool has(const std::string& name) const { return out.contains(key(name)); }
    bool whole(const std::string& name) const
    {
        const Slice slice = slice_of(out.at(key(name)));
        return slice.shape == slice.global;
    }
    std::string key(const std::string& name) const { return fmt::format("slice {} {}", stage, name); }
    std::string where() const { return place_of(stage, tensor_rank); }
};

/// A name may only be in its own place: the tensor_rank-th of those that its parameter has.
std::string compare_places(const Counted& one)
{
    const auto degree = static_cast<std::size_t>(one.grid.tp);
    if (one.names.size() != one.model.size() * degree)
        return fmt::format(
            "{} places, expected {}: {} for each parameter of the model, empty where nothing is "
            "counted",
            one.names.size(), one.model.size() * degree, degree);
    for (std::size_t i = 0; i < one.names.size(); ++i) {
        const std::string& got = one.names[i];
        const std::string& owner = one.model[i / degree];
        if (got.empty()) continue;
        if (got != owner)
            return fmt::format(
                "place {} is '{}', expected it to be of '{}': {} places a parameter, in the "
                "model's order",
                i, got, owner, degree);
        if (i % degree != static_cast<std::size_t>(one.tensor_rank))
            return fmt::format(
                "{} is in the place of tensor-parallel rank {}: no two ranks' terms share a place", got,
                i % degree);
        if (!one.has(got)) return fmt::format("{} is counted, but it is a parameter of another stage", got);
    }
    return "";
}

/// The contract says who counts what several ranks have.
std::string compare_who(const Counted& one)
{
    for (std::size_t i = 0; i < one.model.size(); ++i) {
        const std::string& name = one.model[i];
        if (!one.has(name)) continue;
        const std::size_t place = i * static_cast<std::size_t>(one.grid.tp);
        const bool counted = !one.names[place + static_cast<std::size_t>(one.tensor_rank)].empty();
        const bool elsewhere = one.whole(name) && one.tensor_rank > 0;
        const bool second_copy = name == "wte.weight" && one.stage > 0;
        if (!counted && name == "wte.weight" && one.grid.pp > 1 && !second_copy)
            return "wte.weight is not counted here, but the first stage counts the tied embedding, the last "
                   "not";
        if (!counted && !elsewhere && !second_copy)
            return fmt::format("{} is not counted here, expected it to be: {}", name,
                               one.whole(name) ? "tensor-parallel rank 0 counts what all of them have whole"
                                               : "no other rank counts this part of it");
        if (counted && elsewhere)
            return fmt::format(
                "{} is counted here, but tensor-parallel rank 0 has all of it too and counts it", name);
        if (counted && second_copy)
            return "wte.weight is counted here, but it is a copy of the first stage's, which counts it";
    }
    return "";
}

std::vector<std::string> compare_counts(const CountsRun& run, const CaseResult& result)
{
    Ledger ledger(run.grid.shape());
    std::vector<std::string> messages;
    for (int stage = 0; stage < run.grid.pp; ++stage)
        for (int t = 0; t < run.grid.tp; ++t) {
            const json& out = result.ranks[static_cast<std::size_t>(t)].outputs;
            const Counted one{run.grid,
                              out,
                              stage,
                              t,
                              names_of_model(run.grid.shape()),
                              names_of(out.at(fmt::format("names {}", stage)))};
            std::string message = compare_places(one);
            if (message.empty()) message = compare_who(one);
            if (!message.empty()) messages.push_back(one.where() + ": " + message);
            for (const std::string& name : one.names)
                if (!name.empty() && one.has(name))
                    ledger.count(name, slice_of(out.at(one.key(name))), one.where());
        }
    const std::vector<std::string> counted = ledger.problems();
    messages.insert(messages.begin(), counted.begin(), counted.end());
    return messages;
}

NamedCase counts_case(const CountsRun& run)
{
    CaseInput input{"counted_names",
                    std::vector<json>(static_cast<std::size_t>(run.grid.tp), run.grid.inputs())};
    return {fmt::format("pp {} with {} chunks a stage, tp {}", run.grid.pp, run.chunks, run.grid.tp), input,
            [run](const CaseResult& result) { return compare_counts(run, result); }};
}

std::vector<NamedCase> counts_cases(const std::vector<int>& tensor_degrees)
{
    std::vector<NamedCase> cases;
    for (const int tp : tensor_degrees)
        for (const int pp : {1, 2, 3, 4})
            for (const int chunks : {1, 2}) {
                if (pp == 1 && chunks > 1) continue;
                CountsRun run{{pp, 1, tp}, chunks};
                run.grid.blocks.assign(static_cast<std::size_t>(pp * chunks), 1);
                run.grid.blocks.back() = 2;
                cases.push_back(counts_case(run));
            }
    return cases;
}

}  // namespace

TEST_CASE("09.2 counted_names: every element of the model is counted once, over all stages", "[09.2]")
{
    run_and_check("norm", counts_cases({1}));
}

TEST_CASE("09.2 counted_names: and over all tensor-parallel ranks", "[09.2]")
{
    run_and_check("norm", counts_cases({2, 3, 4}), 20.0);
}
