#!/usr/bin/env python3
"""Seconds per training step of GPT-2 in PyTorch on one thread: what `shardlings bench step` is compared with.

A step is forward, cross-entropy, backward, clipping by global norm and AdamW, in fp32, on a resident batch.
Before measuring, a few ways to write it are timed and the fastest is kept (--attention, --optimizer and
--linear choose by hand), so that the comparison is with PyTorch at its best. Prints one line of JSON. The
environment's OPENBLAS_CORETYPE and ATEN_CPU_CAPABILITY are obeyed, and what came of them is in the output.

Letters: B sequences, T tokens per sequence, h hidden, a heads, d = h/a, V vocabulary.
"""

import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import time


def prepare_environment():
    """What libraries read while they are loaded, so before torch is imported.

    torch.set_num_threads does not reach an OpenBLAS built on pthreads. PyTorch 1.13 uses its AVX-512 kernels
    (GELU, softmax, AdamW, …) only when asked; where the processor has them they are faster.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    flags = set(cpuinfo.read_text().split()) if cpuinfo.exists() else set()
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")


prepare_environment()

import torch
import torch.nn.functional as F
from torch import nn

CLIP_NORM = 1.0


def attention_softmax(q, k, v, mask):
    """The textbook's four operations. q, k, v, result: [B, a, T, d]."""
    scores = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(q.shape[-1])) + mask
    return scores.softmax(dim=-1) @ v


def attention_fused_scores(q, k, v, mask):
    """Scale and mask inside the product: mask + q kᵀ / √d in one baddbmm."""
    B, a, T, d = q.shape
    q, k, v = (x.reshape(B * a, T, d) for x in (q, k, v))
    scores = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1.0 / math.sqrt(d))
    return torch.bmm(scores.softmax(dim=-1), v).view(B, a, T, d)


def attention_library(q, k, v, _):
    """PyTorch's own: private in 1.13, public from 2.0."""
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F._scaled_dot_product_attention(q, k, v, is_causal=True, need_attn_weights=False)[0]


ATTENTIONS = {"softmax": attention_softmax, "fused_scores": attention_fused_scores, "library": attention_library}


class Conv1D(nn.Module):
    """y = x W + b with W stored in × out, as GPT-2 does; one addmm."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


LINEARS = {"linear": nn.Linear, "conv1d": Conv1D}
OPTIMIZERS = {"foreach": True, "loop": False}  # AdamW's argument


class Block(nn.Module):
    def __init__(self, hidden, heads, linear, attention):
        super().__init__()
        self.heads, self.attention = heads, attention
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.c_attn, self.attn_proj = linear(hidden, 3 * hidden), linear(hidden, hidden)
        self.c_fc, self.mlp_proj = linear(hidden, 4 * hidden), linear(4 * hidden, hidden)

    def forward(self, x, mask):
        B, T, h = x.shape
        qkv = self.c_attn(self.ln_1(x)).split(h, dim=2)
        q, k, v = (part.view(B, T, self.heads, h // self.heads).transpose(1, 2) for part in qkv)
        y = self.attention(q, k, v, mask).transpose(1, 2).reshape(B, T, h)
        x = x + self.attn_proj(y)
        return x + self.mlp_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, shape, linear, attention):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(shape.vocab, shape.hidden), nn.Embedding(shape.seq, shape.hidden)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(shape.hidden, shape.heads, linear, attention) for _ in range(shape.layers))
        self.ln_f = nn.LayerNorm(shape.hidden)
        self.register_buffer("mask", torch.full((shape.seq, shape.seq), float("-inf")).triu(1))

    def forward(self, tokens, targets):
        """tokens, targets: [B, T] → mean cross-entropy. The head is wte, transposed."""
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x, self.mask)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def make_step(shape, attention, linear, optimizer):
    """A function without arguments that does one training step."""
    torch.manual_seed(1)
    model = GPT2(shape, LINEARS[linear], ATTENTIONS[attention])
    groups = [
        dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=0.1),
        dict(params=[p for p in model.parameters() if p.dim() == 1], weight_decay=0.0),
    ]
    adamw = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), foreach=OPTIMIZERS[optimizer])
    parameters = list(model.parameters())
    tokens = torch.randint(shape.vocab, (shape.batch, shape.seq + 1))
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def step():
        adamw.zero_grad(set_to_none=True)
        model(inputs, targets).backward()
        nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        adamw.step()

    return step


def seconds(step, steps):
    """Wall-clock seconds of each of `steps` calls."""
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def choose(shape):
    """Axis by axis, the fastest variant the flags leave open → ({axis: variant}, {"axis variant": seconds}).

    The variants of an axis take turns, so that a busy machine slows all of them; each counts with its minimum.
    """
    axes = {"attention": list(ATTENTIONS), "linear": list(LINEARS), "optimizer": list(OPTIMIZERS)}
    choice = {axis: getattr(shape, axis) or variants[0] for axis, variants in axes.items()}
    trials = {}
    for axis, variants in axes.items():
        if getattr(shape, axis):
            continue
        candidates = {variant: make_step(shape, **{**choice, axis: variant}) for variant in variants}
        best = {variant: min(seconds(step, 2)) for variant, step in candidates.items()}
        end = time.perf_counter() + shape.trial_seconds
        while time.perf_counter() < end:
            for variant, step in candidates.items():
                best[variant] = min(best[variant], *seconds(step, 2))
        choice[axis] = min(best, key=best.get)
        trials |= {f"{axis} {variant}": value for variant, value in best.items()}
    return choice, trials


def blas():
    """The BLAS library in this process and, if it is OpenBLAS, the kernels it picked for this processor."""
    paths = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    loaded = {pathlib.Path(path).name: path for path in sorted(paths)}
    for name, path in loaded.items():
        if name.startswith("libopenblas"):
            library = ctypes.CDLL(path)
            library.openblas_get_config.restype = library.openblas_get_corename.restype = ctypes.c_char_p
            return f"{library.openblas_get_config().decode()}, core {library.openblas_get_corename().decode()}"
    return ", ".join(name for name in loaded if "blas" in name or "mkl" in name) or "built in"


def cpu_capability():
    """The vector instructions PyTorch's own kernels use."""
    return torch.__config__.show().split("CPU capability usage:")[1].split()[0]


def profile(step, steps):
    """Share of the step's CPU time inside matrix products, and by operator, the largest first."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        seconds(step, steps)
    events = sorted(profiler.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    shares = {event.key.removeprefix("aten::"): round(event.self_cpu_time_total / total, 4) for event in events}
    products = sum(shares.get(name, 0.0) for name in ("mm", "addmm", "addmm_", "bmm", "baddbmm"))
    return {"matrix_products": round(products, 4), "operators": dict(list(shares.items())[:20])}


def parse():
    parser = argparse.ArgumentParser(description="Times a GPT-2 training step in PyTorch on one thread.")
    for name, value in dict(layers=4, hidden=256, heads=4, seq=128, batch=8, vocab=256).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--steps", type=int, default=10, help="steps per repeat")
    parser.add_argument("--repeat", type=int, default=3, help="repeats; all steps enter the median and minimum")
    parser.add_argument("--trial-seconds", type=float, default=3.0, help="time to choose each variant by")
    parser.add_argument("--attention", choices=list(ATTENTIONS), help="default: the fastest")
    parser.add_argument("--optimizer", choices=list(OPTIMIZERS), help="default: the faster")
    parser.add_argument("--linear", choices=list(LINEARS), help="default: the faster")
    parser.add_argument("--profile", action="store_true", help="add the share of each operator")
    shape = parser.parse_args()
    sizes = (shape.layers, shape.hidden, shape.heads, shape.seq, shape.batch, shape.vocab, shape.steps, shape.repeat)
    if min(sizes) < 1 or shape.hidden % shape.heads:
        parser.error("every size must be at least 1 and --hidden divisible by --heads")
    return shape


def main():
    shape = parse()
    torch.set_num_threads(1)
    choice, trials = choose(shape)
    step = make_step(shape, **choice)
    seconds(step, 3)
    times = [value for _ in range(shape.repeat) for value in seconds(step, shape.steps)]
    median = statistics.median(times)
    result = {
        "seconds_per_step": median,
        "minimum": min(times),
        "tokens_per_second": shape.batch * shape.seq / median,
        "torch": torch.__version__,
        "blas": blas(),
        "cpu_capability": cpu_capability(),
        "onednn": torch.backends.mkldnn.is_available(),
        "variant": choice,
        "trials": trials,
    }
    if shape.profile:
        result["profile"] = profile(step, shape.steps)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
