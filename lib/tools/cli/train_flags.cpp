#include "lib/tools/cli/train_flags.hpp"

#include <CLI/CLI.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/cli/commands.hpp"

namespace shardlings {

void add_model_flags(CLI::App& command, ModelShape& shape)
{
    command.add_option("--layers", shape.layers, "Transformer blocks")->capture_default_str();
    command.add_option("--hidden", shape.hidden, "hidden size h")->capture_default_str();
    command.add_option("--heads", shape.heads, "attention heads")->capture_default_str();
    command.add_option("--seq", shape.sequence, "tokens per sequence")->capture_default_str();
    command.add_option("--vocab", shape.vocabulary, "vocabulary; bytes need 256")->capture_default_str();
}

void add_step_flags(CLI::App& command, TrainFlags& flags)
{
    TrainOptions& o = flags.options;
    command.add_option("--batch", o.batch, "sequences in the global batch")->capture_default_str();
    command.add_option("--microbatches", o.micro_batches, "parts the batch is cut into")
        ->capture_default_str();
    command.add_option("--steps", o.steps, "optimizer steps in all")->capture_default_str();
    command.add_option("--lr", o.adamw.learning_rate, "peak learning rate")->capture_default_str();
    command.add_option("--lr-final", o.final_learning_rate, "part of it left at the end of the cosine")
        ->capture_default_str();
    command.add_option("--warmup", o.warmup, "steps until the peak")->capture_default_str();
    command.add_option("--weight-decay", o.adamw.weight_decay, "of the matrices")->capture_default_str();
    command.add_option("--clip", o.max_norm, "largest norm of the gradient; 0: any")->capture_default_str();
    command.add_option("--seed", o.seed, "of parameters and data")
        ->check(refuse_negative)
        ->capture_default_str();
    command.add_option("--dtype", flags.dtype, "fp32, fp64, bf16 or fp16")->capture_default_str();
    command
        .add_option("--recompute", flags.recompute,
                    "none; selective: the attention's probabilities; full: everything from the input of each "
                    "block, or "
                    "of each pipeline stage")
        ->capture_default_str();
    command.add_option("--dropout", o.dropout, "part of the activations that is dropped in training")
        ->capture_default_str();
}

void add_layout_flags(CLI::App& command, TrainFlags& flags)
{
    Layout& layout = flags.options.layout;
    command.add_option("--dp", layout.dp, "data-parallel degree")->capture_default_str();
    command.add_option("--tp", layout.tp, "tensor-parallel degree")->capture_default_str();
    command.add_option("--pp", layout.pp, "pipeline stages")->capture_default_str();
    command.add_option("--zero", layout.zero, "ZeRO stage, 0 to 3")->capture_default_str();
    command
        .add_option("--bucket-bytes", flags.options.bucket_bytes,
                    "bytes at which a gradient bucket is full; 1: every module has its own")
        ->capture_default_str();
    command.add_flag_callback(
        "--no-overlap", [&flags] { flags.options.overlap = false; },
        "communicate only while nothing is computed");
    command.add_option("--zero3-fetch", flags.zero3_fetch, "how ZeRO 3 fetches: all-gather or broadcast")
        ->capture_default_str();
    command
        .add_option("--gradient-buckets", flags.options.zero.gradient_buckets,
                    "ZeRO 2 and 3: full gradient buckets held at once; 2: reducing overlaps the next")
        ->capture_default_str();
    command
        .add_option(
            "--zero-accumulate", flags.zero_accumulate,
            "ZeRO 2 and 3 with micro-batches: full (as plain data parallelism, bitwise) or shards (less "
            "memory, more traffic)")
        ->capture_default_str();
    command.add_option("--schedule", layout.schedule, "of the pipeline: naive, gpipe, 1f1b or interleaved")
        ->capture_default_str();
    command
        .add_option("--virtual-stages", layout.virtual_stages,
                    "chunks of the model on each stage, interleaved")
        ->capture_default_str();
    command
        .add_option("--stages", layout.blocks,
                    "layers of each stage, as in 3,3,2 (default: balanced by their cost)")
        ->delimiter(',');
    command.add_flag("--sequence-parallel", layout.sequence_parallel,
                     "with --tp: split layer norms and residuals by rows");
    command.add_option("--memory-budget", flags.budget, "of each device, as in 64MiB (default: no limit)");
    command.add_option("--topology", flags.topology,
                       "NODESxDEVICES of the cluster, as in 4x8 (default: the hosts that the ranks are on)");
    command.add_option("--hostfile", flags.hostfile, hostfile_help);
    command
        .add_option(
            "--device-flops", flags.device_flops,
            "FLOP/s of a device in virtual time: a small model on slow devices shows what a large one "
            "on fast devices does")
        ->capture_default_str();
}

void finish(TrainFlags& flags)
{
    TrainOptions& o = flags.options;
    o.dtype = parse_dtype(flags.dtype);
    check(flags.recompute == "none" || flags.recompute == "selective" || flags.recompute == "full",
          "--recompute is '{}': expected none, selective or full", flags.recompute);
    o.recompute = flags.recompute == "full";
    o.recompute_attention = flags.recompute == "selective";
    if (!flags.budget.empty()) o.budget = parse_bytes(flags.budget);
    o.topology.devices_per_node = o.layout.world_size();
    if (!flags.topology.empty()) o.topology = parse_topology(flags.topology);
    check(flags.device_flops > 0.0 && flags.device_flops <= 1e24, "--device-flops is {}: expected up to 1e24",
          flags.device_flops);
    o.topology.flops = flags.device_flops;
    check(flags.zero3_fetch == "all-gather" || flags.zero3_fetch == "broadcast",
          "--zero3-fetch is '{}': expected all-gather or broadcast", flags.zero3_fetch);
    o.zero.fetch = flags.zero3_fetch == "broadcast" ? zero::Fetch::broadcast : zero::Fetch::all_gather;
    check(flags.zero_accumulate == "full" || flags.zero_accumulate == "shards",
          "--zero-accumulate is '{}': expected full or shards", flags.zero_accumulate);
    o.zero.accumulate_in_shards = flags.zero_accumulate == "shards";
    o.validate();
}

}  // namespace shardlings
