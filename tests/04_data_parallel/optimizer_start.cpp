#include "tests/04_data_parallel/optimizer_run.hpp"

namespace data_parallel_test {

namespace {

using data_parallel::Bucket;

constexpr double in_the_padding = 7.0;  // what the gradients' padding holds

std::vector<double> rounded(const std::vector<double>& values, DType dtype)
{
    Device device{DeviceOptions{}};
    return to_doubles(tensor_of(device, values, dtype));
}

/// Random numbers in the bucket's elements, `padding` behind them.
std::vector<double> random_bucket(const std::string& name, const Bucket& bucket, DType dtype, double scale,
                                  double padding)
{
    std::vector<double> values = random_values(name, bucket.padded, dtype, scale);
    std::fill(values.begin() + bucket.elements, values.end(), padding);
    return values;
}

}  // namespace

Tensor tensor_of(Device& device, const std::vector<double>& values, DType dtype)
{
    Tensor tensor(device, {static_cast<std::int64_t>(values.size())}, dtype, Category::workspace);
    from_doubles(values, tensor);
    return tensor;
}

Start start_of(const OptimizerRun& run, const std::vector<Bucket>& buckets)
{
    Start start;
    start.gradients.resize(run.overflows.size());
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto random = [&](const std::string& name, DType dtype, double scale, double padding) {
            return random_bucket(fmt::format("{} {} {}", run.name, name, b), buckets[b], dtype, scale,
                                 padding);
        };
        start.master.push_back(
            random("weights", run.exact_master ? run.dtype : run.states_dtype(), 1.0, 0.0));
        start.values.push_back(rounded(start.master.back(), run.dtype));
        start.m.push_back(random("m", run.states_dtype(), run.done > 0 ? 0.1 : 0.0, 0.0));
        start.v.push_back(random("v", run.states_dtype(), run.done > 0 ? 0.1 : 0.0, 0.0));
        for (double& v : start.v.back()) v = std::abs(v);
        for (std::size_t s = 0; s < run.overflows.size(); ++s) {
            start.gradients[s].push_back(
                random(fmt::format("gradients {}", s), run.dtype, run.scale, in_the_padding));
            if (run.overflows[s] > 0 && run.replicated() && b == run.overflow_bucket)
                start.gradients[s][b][static_cast<std::size_t>(buckets[b].elements / 2)] = run.infinity;
        }
    }
    return start;
}

std::vector<double> squares_of(const std::vector<Bucket>& buckets, int degree, const Numbers& gradients)
{
    std::vector<double> terms;
    for (std::size_t b = buckets.size(); b-- > 0;)
        for (const data_parallel::Segment& segment : data_parallel::segments_of(buckets[b], degree)) {
            double sum = 0.0;
            for (std::int64_t i = segment.offset; i < segment.offset + segment.count; ++i)
                sum += gradients[b][static_cast<std::size_t>(i)] * gradients[b][static_cast<std::size_t>(i)];
            terms.push_back(sum);
        }
    return terms;
}

std::vector<double> terms_of(const OptimizerRun& run, const std::vector<Bucket>& buckets, const Start& start,
                             std::size_t step)
{
    std::vector<double> terms = squares_of(buckets, run.degree, start.gradients[step]);
    terms.insert(terms.begin(), run.overflows[step]);
    return terms;
}

json inputs_of(const OptimizerRun& run, const std::vector<Bucket>& buckets, const Start& start)
{
    json inputs = model_inputs(run.model);
    inputs.update({{"dtype", name_of(run.dtype)},
                   {"degree", run.degree},
                   {"rank", run.rank},
                   {"replicated", run.replicated()},
                   {"bucket_bytes", run.bucket_bytes()},
                   {"done", run.done},
                   {"steps", run.overflows.size()},
                   {"max_norm", run.max_norm},
                   {"scaled", run.scaled},
                   {"scale", run.scale},
                   {"good_steps", run.good_steps},
                   {"learning_rate", run.learning_rate},
                   {"weight_decay", run.weight_decay}});
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto put = [&](const char* name, const Numbers& numbers, DType dtype) {
            inputs[fmt::format("{} {}", name, b)] = tensor_input({buckets[b].padded}, dtype, numbers[b]);
        };
        put("values", start.values, run.dtype);
        put("master", start.master, run.states_dtype());
        put("m", start.m, run.states_dtype());
        put("v", start.v, run.states_dtype());
        for (std::size_t s = 0; s < run.overflows.size(); ++s)
            inputs[fmt::format("gradients {} {}", s, b)] = start.gradients[s][b];
    }
    for (std::size_t s = 0; s < run.overflows.size(); ++s)
        inputs[fmt::format("terms {}", s)] = terms_of(run, buckets, start, s);
    return inputs;
}

}  // namespace data_parallel_test
