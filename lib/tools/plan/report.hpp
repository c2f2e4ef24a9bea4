// What is counted and planned, as text and as JSON.
#pragma once

#include <string>

#include "lib/tools/plan/search.hpp"

namespace shardlings::plan {

/// "gpt3-175b: 96 layers, 12288 hidden, 96 heads, 2048 tokens a sequence, vocabulary 50257".
std::string text_of(const Model& model);
/// "1024 a100-80g in nodes of 8: 80 GB, 312 TFLOP/s of which 70.0 % are achieved, …".
std::string text_of(const Cluster& cluster);

/// Parameters, FLOPs of a sequence, memory by ZeRO stage and by pipeline stage, traffic, time.
std::string count_text(const Run& run, const Split& split, const Cluster& cluster);
std::string count_json(const Run& run, const Split& split, const Cluster& cluster);

/// The `rows` best layouts of a plan, the best in parts, and why the others lose.
std::string plan_text(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows);
std::string plan_json(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows);

/// An SVG file: for each of the `rows` best layouts a bar of its step time and one of its memory, in parts.
std::string plan_picture(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows);

}  // namespace shardlings::plan
