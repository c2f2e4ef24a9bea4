// The text, its batches, and the figures that counting gives.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "lib/machine/tensor/random.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/data/statistics.hpp"
#include "lib/tools/data/text.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

using namespace shardlings;

namespace {

/// Every byte differs from its neighbours, and values above 127 are among them.
Text counting_text(std::size_t size)
{
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 256);
    return Text(bytes, "the test's text");
}

void write_file(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

std::string as_string(std::span<const std::uint8_t> bytes)
{
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("the last tenth of a text is for validation", "[data]")
{
    const Text text("0123456789abcdefghijKLMNOPQRS", "t");
    CHECK(as_string(text.training()) == "0123456789abcdefghijKLMNOPQ");
    CHECK(as_string(text.validation()) == "RS");
    CHECK(Text("12345", "t").validation().empty());
}

TEST_CASE("a file is read byte by byte", "[data]")
{
    const TemporaryFolder folder;
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i % 256);
    write_file(folder / "a", bytes);
    const Text text = load_text(folder / "a");
    CHECK(as_string(text.training()) + as_string(text.validation()) == bytes);
}

TEST_CASE("a file that cannot be learned from is named", "[data]")
{
    const TemporaryFolder folder;
    write_file(folder / "empty", "");
    const auto load = [&](const std::string& name) { return error_of([&] { load_text(folder / name); }); };
    const auto named = [&](const std::string& name) { return quoted(folder / name); };
    CHECK(load("missing") == "there is no file " + named("missing"));
    CHECK(load("") == named("") + " is a folder: name a file of text");
    CHECK(load("empty") == named("empty") + " is empty: a text to learn from is expected");
    CHECK(contains(load("empty/below"), named("empty/below")));
    CHECK(error_of([] { load_text("/dev/zero"); }) ==
          "'/dev/zero' is not a regular file: name a file of text");
    // A file that nobody may read, not even root.
    std::filesystem::create_symlink("loop", folder / "loop");
    CHECK(load("loop") == "cannot read " + named("loop") + ": Too many levels of symbolic links");
    if (geteuid() != 0) {
        write_file(folder / "secret", "x");
        chmod((folder / "secret").c_str(), 0);
        CHECK(load("secret") == "cannot read " + named("secret") + ": Permission denied");
    }
}

TEST_CASE("the course's text is its READMEs in the order of their paths", "[data]")
{
    const TemporaryFolder folder;
    write_file(folder / "lessons/10_z/README.md", "lesson ten. ");
    write_file(folder / "lessons/02_b/README.md", "lesson two. ");
    write_file(folder / "lessons/02_b/notes.md", "no.");
    write_file(folder / "lessons/02_b/deep/README.md", "no.");
    write_file(folder / "lib/machine/README.md", "machine. ");
    write_file(folder / "lib/README.md", "lib. ");
    write_file(folder / "lib/tools/data/README.md", "data.");
    write_file(folder / "README.md", "first. ");
    const Text text = load_course_text(folder.path());
    CHECK(as_string(text.training()) + as_string(text.validation()) ==
          "first. lesson two. lesson ten. lib. machine. data.");

    const TemporaryFolder elsewhere;
    CHECK(contains(error_of([&] { load_course_text(elsewhere.path()); }),
                   quoted(elsewhere.path()) + " is not the project's folder"));
    std::filesystem::create_directories(elsewhere / "lessons");
    std::filesystem::create_directories(elsewhere / "lib/machine");
    CHECK(error_of([&] { load_course_text(elsewhere.path()); }) ==
          "the course's text is empty: a text to learn from is expected");
}

TEST_CASE("the project's folder is found from the program's", "[data]")
{
    const std::filesystem::path root = find_project_root();
    CHECK(std::filesystem::exists(root / "Makefile"));
    CHECK(load_course_text(root).training().size() > 0);
}

TEST_CASE("a batch is cut where the seed says and holds the byte that follows", "[data]")
{
    const Text text = counting_text(1000);
    const std::int64_t B = 5, T = 16;
    const Batch batch = make_batch(text, 3, 7, B, T);
    const RandomStream stream(3, "data");
    for (std::int64_t b = 0; b < B; ++b) {
        const std::size_t start = stream.bits(static_cast<std::uint64_t>(7 * B + b)) % (900 - T);
        for (std::int64_t t = 0; t < T; ++t) {
            const auto i = static_cast<std::size_t>(b * T + t);
            REQUIRE(batch.inputs[i] == text.training()[start + static_cast<std::size_t>(t)]);
            REQUIRE(batch.targets[i] == text.training()[start + static_cast<std::size_t>(t) + 1]);
        }
    }
    const MicroBatch view = batch.view();
    CHECK(view.sequences == B);
    CHECK(view.tokens == T);
    CHECK(view.inputs.data() == batch.inputs.data());
    CHECK(view.targets.data() == batch.targets.data());
    CHECK(view.token_weight == 1.0 / static_cast<double>(B * T));
}

TEST_CASE("batches depend on seed and step only", "[data]")
{
    const Text text = counting_text(1000);
    CHECK(make_batch(text, 1, 4, 8, 16).inputs == make_batch(text, 1, 4, 8, 16).inputs);
    CHECK(make_batch(text, 1, 4, 8, 16).inputs != make_batch(text, 1, 5, 8, 16).inputs);
    CHECK(make_batch(text, 1, 4, 8, 16).inputs != make_batch(text, 2, 4, 8, 16).inputs);
    // The sequences of a step follow those of the step before: the same stream, cut into batches.
    const std::vector<std::int32_t> wide = make_batch(text, 1, 0, 8, 16).inputs;
    std::vector<std::int32_t> narrow = make_batch(text, 1, 0, 4, 16).inputs;
    const std::vector<std::int32_t> next = make_batch(text, 1, 1, 4, 16).inputs;
    narrow.insert(narrow.end(), next.begin(), next.end());
    CHECK(wide == narrow);
}

TEST_CASE("sequences start at every place, and none looks at validation bytes", "[data]")
{
    // 180 training bytes, all different, of which T = 19 leaves the places 0 to 160.
    const Text text = counting_text(200);
    const auto training = text.training();
    std::set<std::int32_t> first, last;
    const Batch batch = make_batch(text, 1, 0, 3000, 19);
    for (std::size_t b = 0; b < 3000; ++b) {
        first.insert(batch.inputs[b * 19]);
        last.insert(batch.targets[b * 19 + 18]);
    }
    CHECK(first == std::set<std::int32_t>(training.begin(), training.begin() + 161));
    CHECK(last == std::set<std::int32_t>(training.begin() + 19, training.end()));
}

TEST_CASE("validation batches have every byte of the split but the first as a target once", "[data]")
{
    for (const std::int64_t T : {1, 5, 7, 30, 99}) {
        const Text text = counting_text(1000);
        const auto split = text.validation();
        std::vector<std::int32_t> inputs, targets;
        const std::int64_t B = 3;
        for (std::int64_t i = 0; i < validation_batches(text, B, T); ++i) {
            const Batch batch = make_validation_batch(text, i, B, T);
            REQUIRE(batch.inputs.size() == static_cast<std::size_t>(B * T));
            REQUIRE(batch.counted() > 0);
            CHECK(batch.view().token_weight == 1.0 / static_cast<double>(batch.counted()));
            for (std::size_t j = 0; j < batch.targets.size(); ++j) {
                if (batch.targets[j] < 0) continue;
                inputs.push_back(batch.inputs[j]);
                targets.push_back(batch.targets[j]);
            }
        }
        CHECK(inputs == std::vector<std::int32_t>(split.begin(), split.end() - 1));
        CHECK(targets == std::vector<std::int32_t>(split.begin() + 1, split.end()));
    }
}

TEST_CASE("what no batch can be cut from is said", "[data]")
{
    const Text text = counting_text(100);
    CHECK(error_of([&] { make_batch(text, 1, 0, 1, 10); }) ==
          "the validation split of the test's text has 10 bytes: a sequence of 10 tokens needs 11, choose a "
          "longer "
          "text or a smaller --seq");
    CHECK(contains(error_of([&] { make_batch(text, 1, 0, 1, 90); }),
                   "the training split of the test's text has 90"));
    CHECK(contains(error_of([&] { validation_batches(text, 1, 10); }), "the validation split"));
    CHECK(error_of([&] { make_batch(text, 1, 0, 1, 9); }) == "no error");
    CHECK(contains(error_of([&] { make_batch(text, 1, 0, 0, 9); }), "0 sequences of 9 tokens: at least 1"));
    CHECK(contains(error_of([&] { make_batch(text, 1, 0, std::int64_t{1} << 40, 9); }), "is too large"));
    CHECK(contains(error_of([&] { make_batch(text, 1, -1, 1, 9); }), "step -1"));
    CHECK(contains(error_of([&] { make_validation_batch(text, 1, 1, 9); }),
                   "validation batch 1: expected 0 to 0"));
    CHECK(contains(error_of([] { check_vocabulary(255); }), "a vocabulary of 255 is too small"));
    CHECK(error_of([] { check_vocabulary(256); }) == "no error");
}

TEST_CASE("the statistics are those of counting with Laplace's rule", "[data]")
{
    // Training: nine times "ab"; validation: "ba".
    const Text by_hand("abababababababababba", "t");
    // n_a = n_b = 9 of N = 18; of the 17 pairs 9 are ab and 8 are ba. The one predicted byte is an a after a
    // b.
    const TextStatistics statistics = measure_statistics(by_hand);
    // One logarithm and one division of it by 1: at most 1 ulp of 2^-50 between two ways to write it.
    CHECK(std::abs(statistics.order_0 - std::log2(274.0 / 10.0)) < 1e-14);
    CHECK(std::abs(statistics.bigram - std::log2(264.0 / 9.0)) < 1e-14);
    CHECK(contains(error_of([] { measure_statistics(Text("0123456789", "t")); }),
                   "the validation split of t has 1"));
}

TEST_CASE("the bigram's probabilities sum to one and win on text with order", "[data]")
{
    // Over all 256 bytes as the one predicted byte, the probabilities that the figures stand for must sum
    // to 1.
    const std::string training = "the cat sat on the mat with the hat";
    double order_0 = 0.0, bigram = 0.0;
    for (int byte = 0; byte < 256; ++byte) {
        // 18 training bytes, validation 't' and the byte.
        const Text text(training.substr(0, 18) + 't' + static_cast<char>(byte), "t");
        const TextStatistics bits = measure_statistics(text);
        order_0 += std::exp2(-bits.order_0);
        bigram += std::exp2(-bits.bigram);
    }
    // 256 terms below 1, each off by at most a few ulp: 256 · 4 · 2^-53 < 2e-13.
    CHECK(std::abs(order_0 - 1.0) < 2e-13);
    CHECK(std::abs(bigram - 1.0) < 2e-13);

    const TextStatistics ordered = measure_statistics(counting_text(100'000));
    CHECK(ordered.bigram < ordered.order_0 / 2);
}
