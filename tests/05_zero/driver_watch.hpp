// What a driver of lesson 05 writes down: bytes, messages and virtual time from moment to moment.
#pragma once

#include <optional>
#include <utility>

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lib/tools/grade/driver.hpp"
#include "tests/05_zero/probes.hpp"

namespace zero_test {

using namespace grade;
using data_parallel::Bucket;
using data_parallel::Group;

/// The group of the case's members; nothing on the other ranks, which take no part.
inline std::optional<Group> group_of(Case& c)
{
    const bool member = c.flag("member");
    const Comm comm = c.comm().split(member ? 1 : 0, c.comm().rank());
    if (!member) return std::nullopt;
    return data_parallel::make_group(comm);
}

/// A row of numbers a moment: bytes of `category` now, its peak since the last moment, the peak of the
/// category communication, the clock, and the messages and bytes
/// of group.data and of group.control since then.
class Watch {
  public:
    Watch(Case& c, const Group& group, Category category)
        : case_(c), group_(group), category_(category), device_(c.device())
    {
        device_.reset_peaks();
    }

    void moment(const std::string& name)
    {
        const Traffic::Count data = group_.data.traffic().total;
        const Traffic::Count control = group_.control.traffic().total;
        case_.put(name, std::vector<double>{number(device_.memory().current_of(category_)),
                                            number(device_.memory().peak_of(category_)),
                                            number(device_.memory().peak_of(Category::communication)),
                                            device_.clock().now(), number(data.messages - data_.messages),
                                            number(data.bytes - data_.bytes),
                                            number(control.messages - control_.messages),
                                            number(control.bytes - control_.bytes)});
        data_ = data;
        control_ = control;
        device_.reset_peaks();
    }

  private:
    static double number(std::uint64_t count) { return static_cast<double>(count); }

    Case& case_;
    const Group& group_;
    Category category_;
    Device& device_;
    Traffic::Count data_;
    Traffic::Count control_;
};

/// A hooked module, and a moment "after …" behind each of its passes. `prefix` goes before the pass's name.
class Watched : public Module {
  public:
    Watched(std::unique_ptr<Module> inner, std::size_t index, Watch& watch, const std::string& prefix)
        : inner_(std::move(inner)), index_(index), watch_(watch), prefix_(prefix)
    {
    }
    std::vector<Parameter*> parameters() override { return inner_->parameters(); }
    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        Tensor y = inner_->forward(batch, std::move(x), saved);
        watch_.moment("after " + prefix_ + name_of_pass('f', index_, batch.index));
        return y;
    }
    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        Tensor dx = inner_->backward(batch, std::move(dy), saved);
        watch_.moment("after " + prefix_ + name_of_pass('b', index_, batch.index));
        return dx;
    }

  private:
    std::unique_ptr<Module> inner_;
    std::size_t index_;
    Watch& watch_;
    const std::string& prefix_;
};

/// Values that need nothing around the passes, for cases about the gradients alone.
class IdleValues : public data_parallel::ParameterValues {
  public:
    void before_forward(std::size_t) override {}
    void after_forward(std::size_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t) override {}
    data_parallel::Held held(std::size_t) override { return {{0, 0}, Tensor()}; }
    void gather_shards() override {}
    void release() override {}
};

/// And the other way round.
class IdleGradients : public data_parallel::Gradients {
  public:
    void begin_step(std::int64_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t, std::int64_t) override {}
    void finish() override {}
    data_parallel::Held held(std::size_t) override { return {{0, 0}, Tensor()}; }
};

inline void watch_modules(Modules& modules, data_parallel::ParameterValues& values,
                          data_parallel::Gradients& gradients, Watch& watch, const std::string& prefix)
{
    for (std::size_t i = 0; i < modules.size(); ++i)
        modules[i] = std::make_unique<Watched>(
            data_parallel::make_hooked(std::move(modules[i]), i, values, gradients), i, watch, prefix);
}

inline std::vector<MicroBatch> micro_batches(std::int64_t count)
{
    std::vector<MicroBatch> all(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)].index = i;
    return all;
}

inline Sizes sizes_of(Case& c)
{
    Sizes sizes(static_cast<std::size_t>(c.integer("modules")));
    for (std::size_t i = 0; i < sizes.size(); ++i)
        for (const std::int32_t size : c.ids(fmt::format("sizes{}", i))) sizes[i].push_back(size);
    return sizes;
}

inline data_parallel::ReplicaOptions replica_options(Case& c)
{
    return {parse_dtype(c.text("dtype")), static_cast<std::uint64_t>(c.integer("seed")),
            c.integer("bucket_bytes"), c.flag("overlap")};
}

/// The buckets of the case's modules for the group.
inline std::vector<Bucket> buckets_of(Case& c, const Modules& modules, const Group& group)
{
    const data_parallel::ReplicaOptions options = replica_options(c);
    return data_parallel::make_buckets(modules, group.data.size(), options.dtype, options.bucket_bytes);
}

}  // namespace zero_test
