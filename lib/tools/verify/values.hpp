// What the ranks of a case hold before, and what must come out.
#pragma once

#include <string>
#include <vector>

#include "lib/machine/tensor/random.hpp"
#include "lib/tools/verify/cases.hpp"

namespace shardlings::verify {

/// Element i of rank r is, where sums are exact, scale(i) base^r: all sums of some ranks' contributions are
/// exact in the dtype, and its digits say whose they are. base = 2^floor(b/p) for a dtype of b significant
/// bits, and scale(i) is a power of two that looks random, so that no run of elements is like another.
/// Otherwise it is a random number. `filler` is what a rank holds where it has nothing of its own.
class Contributions {
  public:
    Contributions(Collective kind, const Case& one);

    std::vector<double> input(int rank) const;
    /// What any rank must hold of element i. For rounded sums the exact sum of the inputs.
    double expected(std::int64_t i) const;
    /// How far from it a result may be: any order of p − 1 additions that round to a relative u = epsilon/2
    /// gives Σ v (1 + δ) with |δ| <= (p − 1) u / (1 − (p − 1) u) (Higham 2002, 4.2); what is expected is a
    /// sum of doubles that is rounded likewise. 0 where nothing is rounded.
    double tolerance(std::int64_t i) const;
    /// Whether the collective says what rank `rank` holds of element i.
    bool defined(int rank, std::int64_t i) const;
    /// "rank 2's contribution is missing", …; empty when the number does not tell.
    std::string cause(int rank, std::int64_t i, double got) const;

  private:
    bool sums() const { return kind_ == Collective::all_reduce || kind_ == Collective::reduce_scatter; }
    bool holds(int rank, std::int64_t i) const;
    double scale(std::int64_t i) const;
    double contribution(int rank, std::int64_t i) const;
    std::string cause_in_sum(int rank, double digits) const;

    Collective kind_;
    Case case_;
    double base_;
    std::vector<double> weights_;  // base^r
    RandomStream scales_;
    std::vector<std::vector<double>> rounded_;  // of each rank, where sums are rounded
};

inline constexpr double filler = -3.0;

}  // namespace shardlings::verify
