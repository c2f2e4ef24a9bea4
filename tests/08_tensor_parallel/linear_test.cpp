// 08.2 Column- and row-parallel linear layers against the whole layer, computed here in long double.
#include "tests/08_tensor_parallel/support.hpp"

using namespace tensor_parallel_test;

namespace {

using Numbers = std::vector<double>;

/// A whole layer y = x w + b, x (R, n), w (n, m), and which of its numbers a rank has. A column layer cuts m,
/// a row layer n.
struct Layer {
    Outside at;
    bool column;
    std::int64_t n, m;

    std::int64_t own_n() const { return column ? n : n / at.group.p; }
    std::int64_t own_m() const { return column ? m / at.group.p : m; }
    std::int64_t rows() const { return at.rows(); }
    std::string name() const { return fmt::format("{}, w {} x {}", at.name(), n, m); }

    Numbers random(const std::string& tensor, std::int64_t count) const
    {
        return random_values("linear " + name() + tensor, count, at.dtype);
    }
    Numbers x() const { return random("x", rows() * n); }
    Numbers w() const { return random("w", n * m); }
    Numbers b() const { return random("b", m); }
    Numbers dy() const { return random("dy", rows() * m); }
    /// Gradients that are there before; those of replicated parameters are the same on all ranks.
    Numbers dw() const { return random("dw", n * m); }
    Numbers db() const { return random("db", m); }

    /// Columns or rows of rank `rank` of a matrix of `columns`.
    Numbers own_columns(const Numbers& all, std::int64_t columns, int rank) const
    {
        const std::int64_t own = columns / at.group.p;
        Numbers part;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (static_cast<std::int64_t>(i) % columns / own == rank) part.push_back(all[i]);
        return part;
    }
    Numbers own_rows(const Numbers& all, int rank) const
    {
        const std::size_t own = all.size() / static_cast<std::size_t>(at.group.p);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(own) * rank;
        return {first, first + static_cast<std::ptrdiff_t>(own)};
    }
    Numbers own_w(const Numbers& all, int rank) const
    {
        return column ? own_columns(all, m, rank) : own_rows(all, rank);
    }
    json tensor(const Shape& shape, const Numbers& values) const
    {
        return tensor_input(shape, at.dtype, values);
    }
    /// What each rank is given; x and dy as they lie, outside or inside.
    json input(int rank) const
    {
        json in = at.inputs();
        in["x"] = column ? at.tensor(x(), rank) : tensor(at.inside(own_n()), own_columns(x(), n, rank));
        in["dy"] = column ? tensor(at.inside(own_m()), own_columns(dy(), m, rank)) : at.tensor(dy(), rank);
        in["w"] = tensor({own_n(), own_m()}, own_w(w(), rank));
        in["dw"] = tensor({own_n(), own_m()}, own_w(dw(), rank));
        in["b"] = tensor({own_m()}, column ? own_columns(b(), m, rank) : b());
        in["db"] = tensor({own_m()}, column ? own_columns(db(), m, rank) : db());
        return in;
    }
};

/// Sums and, beside them, the sums of the terms' sizes.
struct Sums {
    Numbers values, sizes;
};

/// start[j mod columns] + Σ_k a(i, k) b(k, j), for i < rows and j < columns.
template <class A, class B>
Sums product(std::int64_t rows, std::int64_t terms, std::int64_t columns, const Numbers& start, const A& a,
             const B& b)
{
    Sums sums;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            const auto place = static_cast<std::size_t>(i * columns + j);
            long double sum = start.empty() ? 0.0 : start[place % start.size()];
            long double size = std::abs(sum);
            for (std::int64_t k = 0; k < terms; ++k) {
                const long double term = static_cast<long double>(a(i, k)) * b(k, j);
                sum += term;
                size += std::abs(term);
            }
            sums.values.push_back(static_cast<double>(sum));
            sums.sizes.push_back(static_cast<double>(size));
        }
    return sums;
}

struct Element {  // of a matrix of so many columns, or of its transpose
    const Numbers& values;
    std::int64_t columns;
    bool transposed = false;
    double operator()(std::int64_t i, std::int64_t j) const
    {
        return values[static_cast<std::size_t>(transposed ? j * columns + i : i * columns + j)];
    }
};

/// Everything of the whole layer.
struct Expected {
    Sums y, dx, dw, db;

    explicit Expected(const Layer& l)
    {
        const Numbers x = l.x(), w = l.w(), dy = l.dy();
        const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
        y = product(l.rows(), l.n, l.m, l.b(), Element{x, l.n}, Element{w, l.m});
        dx = product(l.rows(), l.m, l.n, {}, Element{dy, l.m}, Element{w, l.m, true});
        dw = product(l.n, l.rows(), l.m, l.dw(), Element{x, l.n, true}, Element{dy, l.m});
        db = product(1, l.rows(), l.m, l.db(), one, Element{dy, l.m});
    }
};

/// A sum of n products, in whatever order, is rounded at most n + 1 times on the way of any of its terms when
/// it is computed (u), then once to its dtype; and when the ranks' parts of it are added in that dtype (v), p
/// − 1 times more, and once when the bias is added to the sum: |error| <= 1.1 ((n + 1) u + (1 or p + 1) v)
/// Σ |terms|, 1.1 for products of roundings.
Numbers bounds(const Layer& l, const Numbers& sizes, std::int64_t terms, bool summed_over_ranks)
{
    const double steps = static_cast<double>(terms + 1) * roundoff(sum_dtype(l.at.dtype)) +
                         (summed_over_ranks ? l.at.group.p + 1 : 1) * roundoff(l.at.dtype);
    Numbers result;
    for (const double size : sizes) result.push_back(1.1 * steps * size);
    return result;
}

enum class Lies { outside, columns, rows, everywhere };

/// The part of a whole result that rank `rank` has.
Numbers part_of(const Layer& l, Lies lies, const Numbers& all, std::int64_t columns, int rank)
{
    if (lies == Lies::outside) return l.at.part(all, rank);
    if (lies == Lies::columns) return l.own_columns(all, columns, rank);
    return lies == Lies::rows ? l.own_rows(all, rank) : all;
}

std::string compare_part(const Layer& l, const RankResult& own, const std::string& name, const Shape& shape,
                         Lies lies, const Sums& whole, std::int64_t columns, std::int64_t terms,
                         bool summed_over_ranks, int rank)
{
    return compare_within(name, own.outputs.at(name),
                          l.tensor(shape, part_of(l, lies, whole.values, columns, rank)),
                          bounds(l, part_of(l, lies, whole.sizes, columns, rank), terms, summed_over_ranks));
}

std::string compare_flops(const Layer& l, const RankResult& own, double factor)
{
    const double expected = factor * static_cast<double>(l.rows() * l.own_n() * l.own_m());
    return compare_number("FLOPs of this rank", own.measured.at("flops").get<double>(), expected, {});
}

std::int64_t bytes(const Layer& l, const Shape& shape)
{
    return elements_of(shape) * static_cast<std::int64_t>(size_of(l.at.dtype));
}

std::vector<std::string> check_forward(const Layer& l, const Expected& whole, const CaseResult& result,
                                       int rank)
{
    const RankResult& own = l.at.group.at(result, rank);
    const Shape y = l.column ? l.at.inside(l.own_m()) : l.at.shape(l.m);
    return {
        compare_part(l, own, "y", y, l.column ? Lies::columns : Lies::outside, whole.y, l.m, l.n + 1,
                     !l.column, rank),
        compare_sent(l.at.group, rank, own, l.column ? l.at.entering(l.n, rank) : l.at.leaving(l.m, rank)),
        compare_flops(l, own, 2.0), compare_left(own, bytes(l, y)),
        compare_unchanged(own, l.input(rank), {"x", "w", "b"})};
}

std::vector<std::string> check_backward(const Layer& l, const Expected& whole, const CaseResult& result,
                                        int rank)
{
    const RankResult& own = l.at.group.at(result, rank);
    const Shape dx = l.column ? l.at.shape(l.n) : l.at.inside(l.own_n());
    const Lies cut = l.column ? Lies::columns : Lies::rows;
    const Sent sent =
        l.column ? l.at.entering(l.n, rank) + l.at.leaving(l.n, rank) : l.at.entering(l.m, rank);
    return {compare_part(l, own, "dx", dx, l.column ? Lies::outside : Lies::columns, whole.dx, l.n, l.m,
                         l.column, rank),
            compare_part(l, own, "dw", {l.own_n(), l.own_m()}, cut, whole.dw, l.m, l.rows(), false, rank),
            compare_part(l, own, "db", {l.own_m()}, l.column ? Lies::columns : Lies::everywhere, whole.db,
                         l.m, l.rows(), false, rank),
            compare_sent(l.at.group, rank, own, sent),
            compare_flops(l, own, 4.0),
            compare_left(own, bytes(l, dx)),
            compare_unchanged(own, l.input(rank), {"dy", "x", "w"})};
}

NamedCase linear_case(const Layer& l, bool forward)
{
    std::vector<json> inputs;
    for (int rank = 0; rank < l.at.group.p; ++rank) inputs.push_back(l.input(rank));
    const std::string operation =
        fmt::format("{}_{}", l.column ? "column" : "row", forward ? "forward" : "backward");
    return {l.name(), l.at.group.input(operation, inputs), [=](const CaseResult& result) {
                const Expected whole(l);
                std::vector<std::string> messages;
                for (int rank = 0; rank < l.at.group.p; ++rank)
                    for (const std::string& message : forward ? check_forward(l, whole, result, rank)
                                                              : check_backward(l, whole, result, rank))
                        messages.push_back(on_rank(rank, message));
                if (!l.column && !forward) messages.push_back(compare_on_all("db", result));
                return messages;
            }};
}

/// Several rows and one, that T divides or not; one or several columns a rank.
std::vector<NamedCase> cases_of(bool column, bool forward)
{
    struct Sizes {
        std::int64_t sequences, tokens, whole, cut;
    };
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (const int p : {1, 2, 3, 4, 8})
        for (const Sizes& s : {Sizes{2, 8, 5, 3}, {1, 7, 4, 2}, {3, 5, 6, 1}, {1, 1, 3, 4}})
            for (const std::string& boundary : boundaries) {
                const DType dtype = all_dtypes[(number / 2 + number / 8) % 4];
                ++number;
                const Outside at{boundary, {p, s.tokens == 5}, s.sequences, s.tokens, dtype};
                cases.push_back(linear_case(
                    {at, column, column ? s.whole : s.cut * p, column ? s.cut * p : s.whole}, forward));
            }
    return cases;
}

}  // namespace

TEST_CASE("08.2 column_parallel_forward: the own columns of y", "[08.2]")
{
    run_and_check("linear", cases_of(true, true));
}

TEST_CASE("08.2 column_parallel_backward: dx summed over the ranks, the own columns' gradients", "[08.2]")
{
    run_and_check("linear", cases_of(true, false));
}

TEST_CASE("08.2 row_parallel_forward: y summed over the ranks, the bias added once", "[08.2]")
{
    run_and_check("linear", cases_of(false, true));
}

TEST_CASE("08.2 row_parallel_backward: the own columns of dx, gradients of own rows and of the bias",
          "[08.2]")
{
    run_and_check("linear", cases_of(false, false));
}
