// Case operations on layouts: which part of the batch, and which parameters and gradients, lie where.
#pragma once

#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/tools/grade/driver.hpp"
#include "tests/04_data_parallel/parameter_model.hpp"

namespace layout_cases {

using namespace grade;
using data_parallel_test::ModelSizes;
using data_parallel_test::ParameterModel;

/// Inputs sizes, modules (the parameters of all of them after one another) and module_sizes.
inline ModelSizes model_sizes(Case& c)
{
    ModelSizes model{c.ids("sizes"), {}};
    const std::vector<std::int32_t> used = c.ids("modules");
    auto next = used.begin();
    for (const std::int32_t count : c.ids("module_sizes")) {
        model.modules.emplace_back(next, next + count);
        next += count;
    }
    return model;
}

inline void put_indices(Case& c, const std::string& name, const std::vector<std::int64_t>& list)
{
    c.put(name, std::vector<double>(list.begin(), list.end()));
}

/// Where a span begins in an array; -1: somewhere else.
inline std::int64_t begin_in(const std::vector<std::int32_t>& array, std::span<const std::int32_t> part)
{
    const std::less_equal<> before;
    const bool inside =
        before(array.data(), part.data()) && before(part.data() + part.size(), array.data() + array.size());
    return inside ? part.data() - array.data() : -1;
}

/// The message of the error that `call` ends with, as the output "refusal".
inline void put_refusal(Case& c, const std::function<void()>& call)
{
    try {
        call();
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        c.put("refusal", std::string(error.what()));
    }
}

/// All ranks' micro-batches, one after the other.
inline void shard_batch(Case& c)
{
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    const MicroBatch global{c.integer("sequences"), c.integer("tokens"), inputs, targets, 0.0, 7};
    const int degree = static_cast<int>(c.integer("degree"));
    const std::int64_t micro_batches = c.integer("micro_batches");
    if (c.flag("refused")) {
        put_refusal(c, [&] { data_parallel::shard_batch(global, degree, 0, micro_batches); });
        return;
    }
    std::vector<double> weights;
    std::vector<std::int64_t> counts, sequences, tokens, indices, inputs_begin, targets_begin, sizes;
    for (int rank = 0; rank < degree; ++rank) {
        const std::vector<MicroBatch> own = data_parallel::shard_batch(global, degree, rank, micro_batches);
        counts.push_back(static_cast<std::int64_t>(own.size()));
        for (const MicroBatch& part : own) {
            sequences.push_back(part.sequences);
            tokens.push_back(part.tokens);
            indices.push_back(part.index);
            inputs_begin.push_back(begin_in(inputs, part.inputs));
            targets_begin.push_back(begin_in(targets, part.targets));
            sizes.push_back(static_cast<std::int64_t>(part.inputs.size()));
            sizes.push_back(static_cast<std::int64_t>(part.targets.size()));
            weights.push_back(part.token_weight);
        }
    }
    put_indices(c, "counts", counts);
    put_indices(c, "sequences", sequences);
    put_indices(c, "tokens", tokens);
    put_indices(c, "indices", indices);
    put_indices(c, "inputs_begin", inputs_begin);
    put_indices(c, "targets_begin", targets_begin);
    put_indices(c, "sizes", sizes);
    c.put("token_weights", weights);
}

/// What is wrong with the parameters' tensors after binding them to a bucket's; empty: nothing.
inline std::string binding_problem(Device& device, const data_parallel::Bucket& bucket, DType dtype,
                                   void (*bind)(const data_parallel::Bucket&, const Tensor&),
                                   Tensor Parameter::*tensor)
{
    const Tensor whole(device, {bucket.padded}, dtype, Category::parameters);
    bind(bucket, whole);
    for (const FlatEntry& entry : bucket.entries) {
        const Tensor& bound = entry.parameter->*tensor;
        const std::byte* expected = whole.buffer().part(entry.offset, entry.parameter->elements()).data;
        if (bound.empty() || std::as_const(bound).buffer().data != expected ||
            bound.shape() != entry.parameter->slice.shape || bound.dtype() != dtype)
            return fmt::format("{} is not a view of the bucket's elements from {} on", entry.parameter->name,
                               entry.offset);
    }
    bind(bucket, Tensor());
    for (const FlatEntry& entry : bucket.entries)
        if (!(entry.parameter->*tensor).empty())
            return fmt::format("{} is not empty after it was bound to nothing", entry.parameter->name);
    return "";
}

inline void make_buckets(Case& c)
{
    const ParameterModel model(model_sizes(c));
    const DType dtype = parse_dtype(c.text("dtype"));
    const auto call = [&] {
        return data_parallel::make_buckets(model.modules(), static_cast<int>(c.integer("degree")), dtype,
                                           c.integer("bucket_bytes"));
    };
    if (c.flag("refused")) return put_refusal(c, call);
    const std::vector<data_parallel::Bucket> buckets = call();
    std::vector<std::int64_t> first, last, elements, padded, entry_counts, parameters, offsets;
    std::string binding;
    for (const data_parallel::Bucket& bucket : buckets) {
        first.push_back(static_cast<std::int64_t>(bucket.first_module));
        last.push_back(static_cast<std::int64_t>(bucket.last_module));
        elements.push_back(bucket.elements);
        padded.push_back(bucket.padded);
        entry_counts.push_back(static_cast<std::int64_t>(bucket.entries.size()));
        std::int64_t end = 0;
        for (const FlatEntry& entry : bucket.entries) {
            parameters.push_back(model.index_of(entry.parameter));
            offsets.push_back(entry.offset);
            end = std::max(end, parameters.back() < 0 ? 0 : entry.offset + entry.parameter->elements());
        }
        if (end > bucket.padded || !binding.empty()) continue;  // there is nothing that could be bound
        binding = binding_problem(c.device(), bucket, dtype, data_parallel::bind_values, &Parameter::value);
        if (binding.empty())
            binding = binding_problem(c.device(), bucket, dtype, data_parallel::bind_gradients,
                                      &Parameter::gradient);
    }
    std::vector<std::int64_t> used, used_counts;
    for (const std::vector<std::size_t>& of_module :
         data_parallel::buckets_of_modules(model.modules(), buckets)) {
        used.insert(used.end(), of_module.begin(), of_module.end());
        used_counts.push_back(static_cast<std::int64_t>(of_module.size()));
    }
    put_indices(c, "first_module", first);
    put_indices(c, "last_module", last);
    put_indices(c, "elements", elements);
    put_indices(c, "padded", padded);
    put_indices(c, "entry_counts", entry_counts);
    put_indices(c, "parameters", parameters);
    put_indices(c, "offsets", offsets);
    put_indices(c, "used", used);
    put_indices(c, "used_counts", used_counts);
    c.put("binding", binding);
}

/// Of one bucket with all parameters, which is put together here.
inline void segments_of(Case& c)
{
    ParameterModel model(model_sizes(c));
    const std::int64_t degree = c.integer("degree");
    data_parallel::Bucket bucket{0, 1, {}, 0, 0};
    for (Parameter& parameter : model.parameters()) {
        bucket.entries.push_back({&parameter, bucket.elements});
        bucket.elements += parameter.elements();
    }
    bucket.padded = (bucket.elements + degree - 1) / degree * degree;
    std::vector<std::int64_t> parameters, owners, offsets, counts, parameter_offsets;
    for (const data_parallel::Segment& segment :
         data_parallel::segments_of(bucket, static_cast<int>(degree))) {
        parameters.push_back(model.index_of(segment.parameter));
        owners.push_back(segment.owner);
        offsets.push_back(segment.offset);
        counts.push_back(segment.count);
        parameter_offsets.push_back(segment.parameter_offset);
    }
    put_indices(c, "parameters", parameters);
    put_indices(c, "owners", owners);
    put_indices(c, "offsets", offsets);
    put_indices(c, "counts", counts);
    put_indices(c, "parameter_offsets", parameter_offsets);
}

}  // namespace layout_cases
