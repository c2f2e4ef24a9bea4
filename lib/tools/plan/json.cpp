#include <nlohmann/json.hpp>

#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"

namespace shardlings::plan {

namespace {

using Json = nlohmann::ordered_json;

template <class Parts>
Json of_parts(const Parts& parts)
{
    Json json = Json::object();
    for (const auto& [name, value] : parts) json[std::string(name)] = value;
    return json;
}

template <class Parted>
Json with_total(const Parted& parted)
{
    Json json = of_parts(parts_of(parted));
    json["all"] = parted.total();
    return json;
}

Json to_json(const Model& m)
{
    return {{"name", m.name},         {"layers", m.layers},        {"hidden", m.hidden},
            {"heads", m.heads},       {"kv_heads", m.kv_heads},    {"mlp", m.mlp},
            {"sequence", m.sequence}, {"vocabulary", m.vocabulary}};
}

Json to_json(const Cluster& c)
{
    return {{"name", c.name},
            {"devices", c.devices},
            {"devices_per_node", c.devices_per_node},
            {"memory", c.memory},
            {"flops", c.flops},
            {"flops_achieved", c.flops_achieved},
            {"memory_bandwidth", c.memory_bandwidth},
            {"memory_achieved", c.memory_achieved},
            {"bandwidth_in_node", c.intra.bandwidth},
            {"bandwidth_between_nodes", c.inter.bandwidth},
            {"link_achieved", c.link_achieved}};
}

Json to_json(const Run& run, const Split& s)
{
    return {{"pp", s.pp},
            {"dp", s.dp},
            {"tp", s.tp},
            {"zero", s.zero},
            {"schedule", name_of(s.schedule)},
            {"virtual_stages", s.virtual_stages},
            {"micro_batch", s.micro_batch},
            {"micro_batches", s.micro_batches(run)},
            {"recompute", name_of(s.recompute)},
            {"sequence_parallel", s.sequence_parallel}};
}

Json to_json(const Run& run, const Cluster& cluster, const Planned& layout)
{
    Json json = to_json(run, layout.split);
    const Utilisation used = utilisation(run, layout.split, cluster, layout.seconds());
    json["seconds"] = with_total(layout.time);
    json["bytes"] = with_total(layout.memory);
    json["sent"] = of_parts(parts_of(traffic_of(run, layout.split)));
    json["mfu"] = used.model;
    json["hfu"] = used.hardware;
    if (run.tokens > 0.0) {
        json["days"] = run.steps() * layout.seconds() / 86400.0;
        json["device_hours"] = run.steps() * layout.seconds() / 3600.0 * static_cast<double>(cluster.devices);
    }
    return json;
}

}  // namespace

std::string count_json(const Run& run, const Split& split, const Cluster& cluster)
{
    const counting::SequenceFlops flops = sequence_flops(run.model);
    const Planned layout{split, largest_memory(run, split), step_time(run, split, cluster)};
    Json stages = Json::array();
    for (std::int64_t stage = 0; stage < split.pp; ++stage)
        stages.push_back(with_total(memory_of(run, split, stage)));
    const RoughParameters rough = rough_parameters(run.model);
    Json sequence = of_parts(parts_of(flops));
    sequence["training"] = flops.training(true);
    sequence["training_without_ends"] = flops.training(false);
    sequence["six_n_d"] =
        6.0 * static_cast<double>(exact_parameters(run.model)) * static_cast<double>(run.model.sequence);
    const Json json{{"model", to_json(run.model)},
                    {"cluster", to_json(cluster)},
                    {"batch", run.batch},
                    {"parameters",
                     {{"attention", rough.attention},
                      {"MLP", rough.mlp},
                      {"vocabulary", rough.vocabulary},
                      {"positions", rough.positions},
                      {"exact", exact_parameters(run.model)}}},
                    {"sequence_flops", sequence},
                    {"stages", stages},
                    {"layout", to_json(run, cluster, layout)}};
    return json.dump(1) + "\n";
}

std::string plan_json(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows)
{
    Json best = Json::array();
    for (std::size_t i = 0; i < std::min(rows, plan.best.size()); ++i)
        best.push_back(to_json(run, cluster, plan.best[i]));
    Json large = Json::array();
    for (const Planned& layout : plan.large) large.push_back(to_json(run, cluster, layout));
    const Json json{{"model", to_json(run.model)},
                    {"cluster", to_json(cluster)},
                    {"batch", run.batch},
                    {"tokens", run.tokens},
                    {"layouts", plan.layouts},
                    {"fitting", plan.fitting},
                    {"best", best},
                    {"too_large", large}};
    return json.dump(1) + "\n";
}

}  // namespace shardlings::plan
