// Case operations on gradients that are summed over a group while the backward pass goes on.
#pragma once

#include "lessons/04_data_parallel/bucket_gradients.hpp"
#include "tests/04_data_parallel/driver_layout.hpp"
#include "tests/04_data_parallel/gradient_pattern.hpp"

namespace gradient_cases {

using namespace grade;
using namespace data_parallel;
using data_parallel_test::GradientPattern;
using data_parallel_test::ParameterModel;

inline ReplicaOptions replica_options(Case& c)
{
    return {parse_dtype(c.text("dtype")), 1, c.integer("bucket_bytes"), c.flag("overlap")};
}

/// What was sent and how late it was after each call.
struct CallLog {
    std::vector<double> bytes, before, after;
};

/// Calls what a training run calls, `steps` times, with modules that add known gradients and take known time.
inline void run_steps(Case& c, ParameterModel& model, const std::vector<Bucket>& buckets,
                      Gradients& gradients, CallLog& log)
{
    Device& device = c.device();
    const GradientPattern pattern{static_cast<std::uint64_t>(c.integer("seed")),
                                  static_cast<int>(c.integer("silent_rank"))};
    const std::vector<double> flops = c.numbers("flops");
    const std::int64_t micro_batches = c.integer("micro_batches");
    const auto call = [&](const std::function<void()>& function) {
        const std::uint64_t sent = device.traffic().total.bytes;
        log.before.push_back(device.clock().now());
        function();
        log.after.push_back(device.clock().now());
        log.bytes.push_back(static_cast<double>(device.traffic().total.bytes - sent));
    };
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
        gradients.begin_step(micro_batches);
        for (std::int64_t m = 0; m < micro_batches; ++m)
            for (std::size_t i = model.modules().size(); i-- > 0;) {
                gradients.before_backward(i);
                device.compute(flops.at(i));
                data_parallel_test::add_gradients(pattern, {c.comm().rank(), step, m, i}, model);
                call([&] { gradients.after_backward(i, m); });
            }
        call([&] { gradients.finish(); });
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const Held held = gradients.held(b);
            layout_cases::put_indices(c, fmt::format("part {} {}", step, b),
                                      {held.part.offset, held.part.count});
            c.put(fmt::format("sum {} {}", step, b), held.tensor);
        }
    }
}

inline void bucket_gradients(Case& c)
{
    ParameterModel model(layout_cases::model_sizes(c));
    Group group = make_group(c.comm());
    const ReplicaOptions options = replica_options(c);
    const std::vector<Bucket> buckets =
        make_buckets(model.modules(), c.comm().size(), options.dtype, options.bucket_bytes);
    const Keep keep = c.text("keep") == "all" ? Keep::all : Keep::own_shard;
    CallLog log;
    c.start_measuring();
    const std::unique_ptr<Gradients> gradients = make_bucket_gradients(group, buckets, options, keep);
    run_steps(c, model, buckets, *gradients, log);
    c.stop_measuring();
    c.put("control bytes", static_cast<double>(group.control.traffic().total.bytes));
    c.put("bytes", log.bytes);
    c.put("before", log.before);
    c.put("after", log.after);
}

/// Computes and runs collectives that take known time, in turns, then waits for the last one.
inline void run_beside(Case& c)
{
    DeviceOptions options;
    options.record = true;
    Device device(options);
    const std::vector<double> compute = c.numbers("compute"), collective = c.numbers("collective");
    std::vector<double> done, clocks, streams, begins, ends, event_streams;
    std::string names, kinds;
    for (std::size_t i = 0; i < compute.size(); ++i) {
        device.clock().advance(compute[i]);
        const double end =
            data_parallel::run_beside(device, c.flag("overlap"), fmt::format("bucket {}", i), [&] {
                streams.push_back(static_cast<double>(device.stream()));
                device.clock().advance(collective[i]);
            });
        done.push_back(end);
        clocks.push_back(device.clock().now());
        check(device.stream() == Stream::compute, "run_beside left the communication stream in use");
    }
    for (const Event& event : device.events()) {
        names += event.name + "; ";
        kinds += event.kind + "; ";
        begins.push_back(event.begin);
        ends.push_back(event.end);
        event_streams.push_back(static_cast<double>(event.stream));
    }
    data_parallel::wait_beside(device, done.back());
    c.put("done", done);
    c.put("clocks", clocks);
    c.put("streams", streams);
    c.put("names", names);
    c.put("kinds", kinds);
    c.put("begins", begins);
    c.put("ends", ends);
    c.put("event_streams", event_streams);
    c.put("clock", device.clock().now());
}

}  // namespace gradient_cases
