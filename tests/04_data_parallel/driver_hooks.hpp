// Case operations on what is called around the modules' passes.
#pragma once

#include "lessons/04_data_parallel/hooks.hpp"
#include "tests/04_data_parallel/driver_layout.hpp"

namespace hook_cases {

using namespace grade;
using namespace data_parallel;

/// Calls, in the order in which they happen.
struct CallLog {
    std::string calls;
    void add(const std::string& call) { calls += call + "; "; }
};

class LoggingValues : public ParameterValues {
  public:
    explicit LoggingValues(CallLog& log) : log_(log) {}
    void before_forward(std::size_t i) override { log_.add(fmt::format("values.before_forward({})", i)); }
    void after_forward(std::size_t i) override { log_.add(fmt::format("values.after_forward({})", i)); }
    void before_backward(std::size_t i) override { log_.add(fmt::format("values.before_backward({})", i)); }
    void after_backward(std::size_t i) override { log_.add(fmt::format("values.after_backward({})", i)); }
    Held held(std::size_t) override { return {{0, 0}, {}}; }
    void gather_shards() override { log_.add("values.gather_shards()"); }
    void release() override { log_.add("values.release()"); }

  private:
    CallLog& log_;
};

class LoggingGradients : public Gradients {
  public:
    explicit LoggingGradients(CallLog& log) : log_(log) {}
    void begin_step(std::int64_t) override { log_.add("gradients.begin_step()"); }
    void before_backward(std::size_t i) override
    {
        log_.add(fmt::format("gradients.before_backward({})", i));
    }
    void after_backward(std::size_t i, std::int64_t m) override
    {
        log_.add(fmt::format("gradients.after_backward({}, micro-batch {})", i, m));
    }
    void finish() override { log_.add("gradients.finish()"); }
    Held held(std::size_t) override { return {{0, 0}, {}}; }

  private:
    CallLog& log_;
};

/// forward: y = x + 1; backward: dx = 2 dy; and the log of both.
class LoggingModule : public Module {
  public:
    LoggingModule(std::size_t number, CallLog& log) : number_(number), log_(log) {}
    std::vector<Parameter*> parameters() override { return {&parameter_}; }
    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        log_.add(fmt::format("forward of module {} over micro-batch {}", number_, batch.index));
        Tensor y = make_like(x, Category::activations);
        y.span<double>()[0] = x.span<double>()[0] + 1.0;
        saved.push(std::move(x));
        return y;
    }
    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        log_.add(fmt::format("backward of module {} over micro-batch {}", number_, batch.index));
        Tensor dx = saved.pop();
        dx.span<double>()[0] = 2.0 * dy.span<double>()[0];
        return dx;
    }

  private:
    std::size_t number_;
    CallLog& log_;
    Parameter parameter_;
};

/// Passes of a chain of modules over every micro-batch: y of the last forward, dx of the last backward pass.
inline void hooked(Case& c)
{
    CallLog log;
    LoggingValues values(log);
    LoggingGradients gradients(log);
    Modules modules;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.integer("modules")); ++i) {
        auto inner = std::make_unique<LoggingModule>(i, log);
        const std::vector<Parameter*> parameters = inner->parameters();
        modules.push_back(make_hooked(std::move(inner), i, values, gradients));
        check(modules.back()->parameters() == parameters, "the wrapped module has other parameters");
    }
    const auto number = [&](double value) {
        Tensor tensor(c.device(), {1}, DType::fp64, Category::activations);
        tensor.span<double>()[0] = value;
        return tensor;
    };
    c.start_measuring();
    for (std::int64_t m = 0; m < c.integer("micro_batches"); ++m) {
        const MicroBatch batch{1, 1, {}, {}, 1.0, m};
        std::vector<Saved> saved(modules.size());
        Tensor x = number(10.0), dx = number(3.0);
        for (std::size_t i = 0; i < modules.size(); ++i)
            x = modules[i]->forward(batch, std::move(x), saved[i]);
        for (std::size_t i = modules.size(); i-- > 0;)
            dx = modules[i]->backward(batch, std::move(dx), saved[i]);
        c.put("y", x.span<double>()[0]);
        c.put("dx", dx.span<double>()[0]);
    }
    c.stop_measuring();
    c.put("calls", log.calls);
}

/// The values of the start; then every rank changes its shards only, and they are gathered.
inline void gather_shards(Case& c)
{
    const data_parallel_test::ParameterModel model(layout_cases::model_sizes(c));
    Group group = make_group(c.comm());
    const ReplicaOptions options{parse_dtype(c.text("dtype")), static_cast<std::uint64_t>(c.integer("seed")),
                                 c.integer("bucket_bytes"), true};
    const std::vector<Bucket> buckets =
        make_buckets(model.modules(), c.comm().size(), options.dtype, options.bucket_bytes);
    const std::unique_ptr<ParameterValues> values = make_replicated_values(group, buckets, options);
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        Tensor whole = values->held(b).tensor;
        c.put(fmt::format("initial {}", b), whole);
        std::vector<double> numbers(static_cast<std::size_t>(buckets[b].padded), c.number("old"));
        const Chunk own = buckets[b].shard(c.comm().size(), c.comm().rank());
        const std::vector<double> changed = c.numbers(fmt::format("new {}", b));
        std::copy_n(changed.begin() + own.offset, own.count, numbers.begin() + own.offset);
        from_doubles(numbers, whole);
    }
    c.start_measuring();
    values->gather_shards();
    c.stop_measuring();
    c.put("control bytes", static_cast<double>(group.control.traffic().total.bytes));
    for (std::size_t b = 0; b < buckets.size(); ++b)
        c.put(fmt::format("gathered {}", b), values->held(b).tensor);
}

}  // namespace hook_cases
