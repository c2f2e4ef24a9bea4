// 07.1 to 07.3 Better schedules than the naive one. Every one runs each stage's backward passes of a chunk in
// ascending order of the micro-batches, so that gradients add up in the order of a single process.
#pragma once

#include "lessons/06_pipeline/schedule.hpp"

namespace pipeline {

/// 07.1 GPipe (Huang et al. 2019): all forward passes, then all backward passes. All M micro-batches are in
/// flight.
Schedule gpipe_schedule(int stages, int micro_batches);

/// 07.2 1F1B (PipeDream-Flush, Narayanan et al. 2021): stage s first runs min(M, P − s − 1) forward passes,
/// then one forward and one backward in turn, then the remaining backward passes: at most min(M, P − s)
/// micro-batches in flight.
Schedule one_forward_one_backward_schedule(int stages, int micro_batches);

/// 07.3 Interleaved 1F1B (Narayanan et al. 2021, section 2.2) with V = `chunks` chunks a stage. Passes come
/// in groups of P micro-batches, a group through chunk 0, then chunk 1, …: the k-th forward pass of every
/// stage is of chunk (k mod P V) / P and micro-batch P (k / (P V)) + k mod P; the k-th backward pass the same
/// with the chunks reversed. Stage s begins with min(M V, 2 (P − s − 1) + (V − 1) P) forward passes. V = 1 is
/// 1F1B, with its shorter warm-up. Error unless P divides M (when V > 1), or with V > 1 and a single stage.
Schedule interleaved_schedule(int stages, int micro_batches, int chunks);

}  // namespace pipeline
