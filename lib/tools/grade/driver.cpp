#include "lib/tools/grade/driver.hpp"

#include <nlohmann/json.hpp>

#include "lib/machine/comm/session.hpp"
#include "lib/tools/grade/driver_channel.hpp"

namespace grade {

using nlohmann::json;

struct Case::State {
    Device& device;
    Comm& comm;
    Channel& channel;
    const json& inputs;
    json outputs = json::object();
    json measured = json::object();
    double begin_time = 0.0;
    double begin_flops = 0.0;
    Traffic begin_traffic;
    std::uint64_t begin_memory = 0;

    const json& input(const std::string& name) const
    {
        check(inputs.contains(name), "the case has no input '{}'", name);
        return inputs.at(name);
    }
};

Device& Case::device()
{
    return state_.device;
}

Comm& Case::comm()
{
    return state_.comm;
}

Tensor Case::tensor(const std::string& name, Category category)
{
    const json& value = state_.input(name);
    Tensor tensor(state_.device, value.at("shape").get<Shape>(),
                  parse_dtype(value.at("dtype").get<std::string>()), category);
    from_doubles(value.at("values").get<std::vector<double>>(), tensor);
    return tensor;
}

double Case::number(const std::string& name)
{
    return state_.input(name).get<double>();
}

std::int64_t Case::integer(const std::string& name)
{
    return state_.input(name).get<std::int64_t>();
}

std::string Case::text(const std::string& name)
{
    return state_.input(name).get<std::string>();
}

bool Case::flag(const std::string& name)
{
    return state_.input(name).get<bool>();
}

std::vector<std::int32_t> Case::ids(const std::string& name)
{
    return state_.input(name).get<std::vector<std::int32_t>>();
}

std::vector<double> Case::numbers(const std::string& name)
{
    return state_.input(name).get<std::vector<double>>();
}

void Case::put(const std::string& name, const Tensor& tensor)
{
    check(!tensor.empty(), "{} is an empty tensor", name);
    state_.outputs[name] = {
        {"shape", tensor.shape()}, {"dtype", name_of(tensor.dtype())}, {"values", to_doubles(tensor)}};
}

void Case::put(const std::string& name, double number)
{
    state_.outputs[name] = number;
}

void Case::put(const std::string& name, const std::vector<double>& numbers)
{
    state_.outputs[name] = numbers;
}

void Case::put(const std::string& name, const std::string& text)
{
    state_.outputs[name] = text;
}

void Case::put_bytes(const std::string& name, ConstBuffer elements)
{
    const auto* begin = reinterpret_cast<const std::uint8_t*>(elements.data);
    state_.outputs[name] = json::binary(std::vector<std::uint8_t>(begin, begin + elements.bytes()));
}

void Case::start_measuring()
{
    Device& device = state_.device;
    device.reset_peaks();
    state_.begin_time = device.clock().now();
    state_.begin_flops = device.flops();
    state_.begin_traffic = device.traffic();
    state_.begin_memory = device.memory().current;
    state_.channel.begin_measuring();
}

void Case::stop_measuring()
{
    if (!state_.measured.empty()) return;
    state_.channel.end_measuring();
    const Device& device = state_.device;
    json peaks = json::array();
    json now = json::array();
    for (int i = 0; i < category_count; ++i) {
        peaks.push_back(device.memory().peak_of(static_cast<Category>(i)));
        now.push_back(device.memory().current_of(static_cast<Category>(i)));
    }
    json to = json::object();
    for (const auto& [peer, count] : device.traffic().to) {
        const auto before = state_.begin_traffic.to.find(peer);
        const bool known = before != state_.begin_traffic.to.end();
        to[std::to_string(peer)] = {count.messages - (known ? before->second.messages : 0),
                                    count.bytes - (known ? before->second.bytes : 0)};
    }
    state_.measured = {
        {"peak_by", peaks},
        {"current_by", now},
        {"peak", device.memory().peak},
        {"current", device.memory().current},
        {"begin", state_.begin_memory},
        {"messages", device.traffic().total.messages - state_.begin_traffic.total.messages},
        {"bytes", device.traffic().total.bytes - state_.begin_traffic.total.bytes},
        {"inter_node_bytes", device.traffic().inter_node.bytes - state_.begin_traffic.inter_node.bytes},
        {"to", to},
        {"virtual_seconds", device.clock().now() - state_.begin_time},
        {"flops", device.flops() - state_.begin_flops},
    };
}

namespace {

DeviceOptions device_options(const json& description, int rank)
{
    DeviceOptions options;
    options.rank = rank;
    options.budget = description.at("budget").get<std::uint64_t>();
    options.topology.nodes = description.at("nodes").get<int>();
    options.topology.devices_per_node = description.at("devices_per_node").get<int>();
    options.topology.intra = {description.at("intra").at(0), description.at("intra").at(1)};
    options.topology.inter = {description.at("inter").at(0), description.at("inter").at(1)};
    options.topology.flops = description.at("flops").get<double>();
    options.poison = true;
    options.synchronous = true;
    return options;
}

json run_case(std::size_t index, const json& description, int rank, Channel& channel,
              const std::map<std::string, Operation>& operations)
{
    json result = {{"error", ""}, {"not_implemented", false}, {"out_of_memory", false}};
    Device device(device_options(description, rank));
    channel.begin_case(index, device);
    Comm comm = Comm::world(device);
    Case::State state{device, comm, channel, description.at("inputs"), json::object(), json::object(), 0.0,
                      0.0,    {},   0};
    try {
        Case one(state);
        operations.at(description.at("operation").get<std::string>())(one);
        one.stop_measuring();
    } catch (const NotImplemented& error) {
        result["error"] = error.what();
        result["not_implemented"] = true;
    } catch (const DeviceOutOfMemory& error) {
        result["error"] = error.what();
        result["out_of_memory"] = true;
    } catch (const std::exception& error) {
        result["error"] = error.what();
    }
    result["outputs"] = std::move(state.outputs);
    result["measured"] = std::move(state.measured);
    return result;
}

}  // namespace

int run_driver(int argc, char** argv, const std::map<std::string, Operation>& operations)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        check(argc == 3, "a driver is started by the tests: {} FOLDER FIRST_CASE", argv[0]);
        const std::size_t first = std::stoul(argv[2]);
        const std::unique_ptr<Channel> channel = open_channel(argv[1], session);
        const json cases = channel->read_cases();
        for (std::size_t i = first; i < cases.size(); ++i) {
            const json result = run_case(i, cases[i], session.rank(), *channel, operations);
            channel->result(i, result);
            // A rank that failed alone leaves the others waiting for it: the judge starts anew with the next
            // case.
            if (!result.at("error").get<std::string>().empty() && session.size() > 1)
                throw Error(result.at("error").get<std::string>());
        }
        return 0;
    });
}

}  // namespace grade
