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

/// The names keep their places, and what a rank does not have keeps its name.
std::string compare_places(const json& out, int stage, const std::vector<std::string>& model,
                           const std::vector<std::string>& got)
{
    if (got.size() != model.size())
        return fmt::format("{} names, expected {}: a parameter that is not counted leaves \"\" in its place",
                           got.size(), model.size());
    for (std::size_t i = 0; i < model.size(); ++i) {
        if (!got[i].empty() && got[i] != model[i])
            return fmt::format("name {} is '{}', expected '{}': the model's order", i, got[i], model[i]);
        const bool here = out.contains(fmt::format("slice {} {}", stage, model[i]));
        if (got[i].empty() && !here)
            return fmt::format("{} is \"\", but it is a parameter of another stage, which keeps its name",
                               model[i]);
    }
    return "";
}

/// The contract says who counts what several ranks have.
std::string compare_who(const CountsRun& run, const json& out, int stage, int tensor_rank,
                        const std::vector<std::string>& model, const std::vector<std::string>& got)
{
    for (std::size_t i = 0; i < model.size(); ++i) {
        const std::string key = fmt::format("slice {} {}", stage, model[i]);
        if (!out.contains(key)) continue;
        const Slice slice = slice_of(out.at(key));
        const bool whole = slice.shape == slice.global;
        if (got[i].empty() && !(whole && tensor_rank > 0) && !(model[i] == "wte.weight" && stage > 0))
            return fmt::format("{} is not counted here, expected it to be: {}", model[i],
                               whole ? "tensor-parallel rank 0 counts what all of them have whole"
                                     : "no other rank has this part of it");
        if (!got[i].empty() && run.grid.tp > 1 && whole && tensor_rank > 0)
            return fmt::format(
                "{} is counted here, but tensor-parallel rank 0 has all of it too and counts it", model[i]);
        if (!got[i].empty() && model[i] == "wte.weight" && stage > 0)
            return "wte.weight is counted here, but it is a copy of the first stage's, which counts it";
    }
    return "";
}

NamedCase counts_case(const CountsRun& run)
{
    CaseInput input{"counted_names",
                    std::vector<json>(static_cast<std::size_t>(run.grid.tp), run.grid.inputs())};
    return {fmt::format("pp {} with {} chunks a stage, tp {}", run.grid.pp, run.chunks, run.grid.tp), input,
            [run](const CaseResult& result) {
                const std::vector<std::string> model = names_of_model(run.grid.shape());
                Ledger ledger(run.grid.shape());
                std::vector<std::string> messages;
                for (int stage = 0; stage < run.grid.pp; ++stage)
                    for (int t = 0; t < run.grid.tp; ++t) {
                        const json& out = result.ranks[static_cast<std::size_t>(t)].outputs;
                        const auto names = names_of(out.at(fmt::format("names {}", stage)));
                        std::string message = compare_places(out, stage, model, names);
                        if (message.empty()) message = compare_who(run, out, stage, t, model, names);
                        if (!message.empty()) messages.push_back(place_of(stage, t) + ": " + message);
                        for (const std::string& name : names) {
                            const std::string key = fmt::format("slice {} {}", stage, name);
                            if (!name.empty() && out.contains(key))
                                ledger.count(name, slice_of(out.at(key)), place_of(stage, t));
                        }
                    }
                const std::vector<std::string> counted = ledger.problems();
                messages.insert(messages.begin(), counted.begin(), counted.end());
                return messages;
            }};
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
    run_and_check("norm", counts_cases({2, 3, 4}));
}
