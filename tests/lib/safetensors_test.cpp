// The safetensors format: what is written, what is read, and what is refused.
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "lib/tools/train/safetensors.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/child.hpp"
#include "tests/lib/folder.hpp"

using namespace shardlings;

namespace {

std::string read_file(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

/// A file put together by hand: the header's length, the header, the data.
std::string assemble(const std::string& header, const std::string& data)
{
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
    return bytes + header + data;
}

template <class T>
ConstBuffer buffer_over(const std::vector<T>& values, DType dtype)
{
    return {reinterpret_cast<const std::byte*>(values.data()),
            static_cast<std::int64_t>(values.size() * sizeof(T) / size_of(dtype)), dtype};
}

template <class T>
Buffer buffer_over(std::vector<T>& values, DType dtype)
{
    return {reinterpret_cast<std::byte*>(values.data()),
            static_cast<std::int64_t>(values.size() * sizeof(T) / size_of(dtype)), dtype};
}

std::vector<std::uint8_t> all_bytes(std::size_t size)
{
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 89 + 7);
    return bytes;
}

/// Writes one fp32 tensor "x" of n ones to `path`.
void write_ones(const std::filesystem::path& path, std::int64_t n)
{
    const std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
    SafetensorsWriter writer(path, {{"x", DType::fp32, {n}}}, {});
    writer.write("x", 0, buffer_over(ones, DType::fp32));
    writer.commit();
}

}  // namespace

TEST_CASE("a safetensors file has the bytes that the format says", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::vector<float> x{1.0f, -2.0f};
    const std::vector<std::int32_t> y{258};
    SafetensorsWriter writer(folder / "a", {{"x", DType::fp32, {2, 1}}, {"y", DType::i32, {}}},
                             {{"format", "pt"}});
    writer.write("y", 0, buffer_over(y, DType::i32));
    writer.write("x", 0, buffer_over(x, DType::fp32));
    writer.commit();
    std::string header =
        R"({"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
        R"("y":{"dtype":"I32","shape":[],"data_offsets":[8,12]}})";
    while (header.size() % 8 != 0) header += ' ';
    using namespace std::string_literals;
    CHECK(read_file(folder / "a") == assemble(header, "\x00\x00\x80\x3f\x00\x00\x00\xc0\x02\x01\x00\x00"s));
    CHECK(names_in(folder.path()) == "a ");
}

TEST_CASE("tensors of every dtype come back bit by bit", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::array dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16,
                            DType::i64,  DType::i32,  DType::byte};
    std::vector<TensorDescription> tensors;
    for (const DType dtype : dtypes) tensors.push_back({std::string(name_of(dtype)), dtype, {3, 5}});
    tensors.push_back({"nothing", DType::fp32, {3, 0}});
    const std::vector<std::uint8_t> bytes = all_bytes(15 * 8);
    SafetensorsWriter writer(folder / "a", tensors, {});
    for (const DType dtype : dtypes)
        writer.write(name_of(dtype), 0, ConstBuffer{buffer_over(bytes, DType::byte).data, 15, dtype});
    writer.commit();

    const SafetensorsFile file(folder / "a");
    CHECK(file.tensors().size() == 8);
    CHECK(file.metadata().empty());
    CHECK(file.find("nothing")->shape == Shape{3, 0});
    CHECK(file.find("nobody") == nullptr);
    for (const DType dtype : dtypes) {
        const FileTensor* tensor = file.find(name_of(dtype));
        REQUIRE(tensor != nullptr);
        CHECK(tensor->dtype == dtype);
        CHECK(tensor->shape == Shape{3, 5});
        std::vector<std::uint8_t> read(15 * size_of(dtype));
        file.read(*tensor, 0, {buffer_over(read, DType::byte).data, 15, dtype});
        CHECK(std::memcmp(read.data(), bytes.data(), read.size()) == 0);
    }
}

TEST_CASE("slices address the same elements in reading and in writing", "[safetensors]")
{
    const TemporaryFolder folder;
    std::vector<double> whole(4 * 6);
    std::iota(whole.begin(), whole.end(), 0.0);
    const auto part = [&](const Slice& slice) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < slice.shape[0]; ++i)
            for (std::int64_t j = 0; j < slice.shape[1]; ++j)
                values.push_back(static_cast<double>((slice.offset[0] + i) * 6 + slice.offset[1] + j));
        return values;
    };
    // Four shards that do not share a size: rows 0-2 and 3, columns 0-1 and 2-5.
    const std::vector<Slice> shards{{{4, 6}, {3, 2}, {1, 4}},
                                    {{4, 6}, {0, 0}, {3, 2}},
                                    {{4, 6}, {0, 2}, {3, 4}},
                                    {{4, 6}, {3, 0}, {1, 2}}};
    SafetensorsWriter writer(folder / "a", {{"first", DType::fp64, {2}}, {"x", DType::fp64, {4, 6}}}, {});
    writer.write("first", 0, buffer_over(whole, DType::fp64).part(0, 2));
    for (const Slice& shard : shards) {
        const std::vector<double> values = part(shard);
        writer.write("x", shard, buffer_over(values, DType::fp64));
    }
    writer.commit();

    const SafetensorsFile file(folder / "a");
    std::vector<double> read(whole.size());
    file.read(*file.find("x"), Slice::whole({4, 6}), buffer_over(read, DType::fp64));
    CHECK(read == whole);
    for (const Slice& shard : shards) {
        std::vector<double> values(static_cast<std::size_t>(elements_of(shard.shape)));
        file.read(*file.find("x"), shard, buffer_over(values, DType::fp64));
        CHECK(values == part(shard));
        // Small whole numbers are exact in bf16.
        std::vector<std::uint16_t> narrow(values.size());
        file.read(*file.find("x"), shard, buffer_over(narrow, DType::bf16));
        std::vector<double> widened(values.size());
        convert(buffer_over(std::as_const(narrow), DType::bf16), buffer_over(widened, DType::fp64));
        CHECK(widened == values);
    }
    std::vector<double> run(5);
    file.read(*file.find("x"), 13, buffer_over(run, DType::fp64));
    CHECK(run == std::vector<double>(whole.begin() + 13, whole.begin() + 18));
}

TEST_CASE("long tensors are converted in pieces", "[safetensors]")
{
    const TemporaryFolder folder;
    std::vector<double> whole(200'003);
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = 1.0 / static_cast<double>(i + 1);
    SafetensorsWriter writer(folder / "a", {{"x", DType::fp64, {200'003}}}, {});
    writer.write("x", 0, buffer_over(std::as_const(whole), DType::fp64));
    writer.commit();
    const SafetensorsFile file(folder / "a");
    std::vector<float> read(whole.size()), expected(whole.begin(), whole.end());
    file.read(*file.find("x"), 0, buffer_over(read, DType::fp32));
    CHECK(read == expected);
}

TEST_CASE("offsets take 64 bits", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::string big = "5000000000";
    const std::string header = R"({"x":{"dtype":"U8","shape":[)" + big + R"(],"data_offsets":[0,)" + big +
                               R"(]},"y":{"dtype":"I32","shape":[1],"data_offsets":[)" + big +
                               ",5000000004]}}";
    write_file(folder / "a", assemble(header, ""));
    // The file has a hole instead of the five billion zeros.
    std::filesystem::resize_file(folder / "a", 8 + header.size() + 5'000'000'000);
    std::ofstream(folder / "a", std::ios::binary | std::ios::app) << std::string("\x04\x03\x02\x01", 4);
    const SafetensorsFile file(folder / "a");
    std::vector<std::int32_t> y(1);
    file.read(*file.find("y"), 0, buffer_over(y, DType::i32));
    CHECK(y[0] == 0x01020304);
    std::vector<std::uint8_t> last(1, 9);
    file.read(*file.find("x"), 4'999'999'999, buffer_over(last, DType::byte));
    CHECK(last[0] == 0);
}

TEST_CASE("a file that is not what it says is refused in one message", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::filesystem::path path = folder / "a";
    const auto refusal = [&](const std::string& bytes) {
        write_file(path, bytes);
        std::string message = error_of([&] { SafetensorsFile file(path); });
        CHECK((message == "no error" || contains(message, quoted(path))));
        return message;
    };
    const auto of = [&](const std::string& tensors, std::size_t data) {
        return refusal(assemble("{" + tensors + "}", std::string(data, '\0')));
    };
    const std::string x = R"("x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
    const std::string good = assemble("{" + x + "}", std::string(24, '\0'));
    CHECK(refusal(good) == "no error");

    SECTION("truncated at every length")
    {
        for (std::size_t size = 0; size < good.size(); ++size)
            CHECK(contains(refusal(good.substr(0, size)), "is truncated"));
        CHECK(contains(refusal(good.substr(0, good.size() - 4)),
                       "is truncated: its header describes 24 bytes of tensors, 20 are there"));
    }
    SECTION("too long")
    {
        CHECK(contains(refusal(good + "x"), "has 1 byte more than its header describes"));
    }
    SECTION("another format")
    {
        CHECK(contains(refusal("PK\x03\x04 a zip file of some other kind"),
                       "is not a safetensors file: its first bytes"));
        CHECK(contains(refusal(assemble("[1, 2]", "")), "its header is not a JSON object"));
        CHECK(contains(refusal(assemble("{\"x\":", "")), "its header is not JSON"));
        CHECK(contains(refusal(assemble("", "")), "its header is not JSON"));
        CHECK(contains(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
                       "a header of 18446744073709551615"));
        CHECK(contains(refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
                       "a header of 100000001 bytes, at most 100000000"));
    }
    SECTION("offsets")
    {
        CHECK(contains(of(x + R"(,"y":{"dtype":"F32","shape":[1],"data_offsets":[20,24]})", 24),
                       "tensor 'y' overlaps another"));
        CHECK(contains(of(x + R"(,"y":{"dtype":"F32","shape":[1],"data_offsets":[28,32]})", 32),
                       "bytes 24 to 28 before tensor 'y' belong to none"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]})", 24),
                       "its data_offsets are 24 and 0"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,48]})", 48),
                       "takes 24 bytes, its data_offsets are 0 and 48"));
        CHECK(
            contains(of(R"("x":{"dtype":"F32","shape":[1],"data_offsets":[1099511627776,1099511627780]})", 4),
                     "belong to none"));
        CHECK(
            contains(of(R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0]})", 4), "is not described by"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]})", 4),
                       "is not described by"));
    }
    SECTION("dtypes and shapes")
    {
        CHECK(contains(of(R"("x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]})", 4),
                       "tensor 'x' has the unknown dtype 'F33'"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4),
                       "is not described by"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", 4),
                       "is not described by"));
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0),
                       "is too large"));
        CHECK(of(R"("x":{"dtype":"F32","shape":[4294967296,0,4294967296],"data_offsets":[0,0]})", 0) ==
              "no error");
        CHECK(contains(of(R"("x":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})", 4),
                       "is not described by"));
        CHECK(contains(of(R"("x":7)", 0), "is not described by"));
    }
    SECTION("names")
    {
        CHECK(contains(of(x + "," + x, 24), "names tensor 'x' twice"));
        CHECK(contains(of(R"("__metadata__":{"a":1})", 0), "__metadata__ 'a' is not a text"));
        CHECK(contains(of(R"("__metadata__":[])", 0), "__metadata__ is not an object"));
    }
}

TEST_CASE("what is read must be what is there", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::string header = R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},)"
                               R"("i":{"dtype":"I32","shape":[2,3],"data_offsets":[2,26]}})";
    write_file(folder / "a", assemble(header, std::string(26, '\1')));
    const SafetensorsFile file(folder / "a");
    std::vector<float> values(6);
    const Buffer six = buffer_over(values, DType::fp32);
    const auto error = [&](auto... arguments) { return error_of([&] { file.read(arguments...); }); };
    CHECK(contains(error(*file.find("b"), 0, six), "tensor 'b' holds BOOL, which cannot be read as fp32"));
    CHECK(contains(error(*file.find("i"), 0, six), "tensor 'i' holds I32, which cannot be read as fp32"));
    const Buffer ids{six.data, 6, DType::i32};
    CHECK(error(*file.find("i"), 0, ids) == "no error");
    CHECK(contains(error(*file.find("i"), 1, ids), "elements 1 to 7 of tensor 'i' of 2 x 3"));
    CHECK(contains(error(*file.find("i"), Slice::whole({3, 2}), ids),
                   "tensor 'i' has the shape 2 x 3: expected 3 x 2"));

    CHECK(contains(error_of([&] { SafetensorsFile missing(folder / "missing"); }),
                   "No such file or directory"));
    CHECK(contains(error_of([&] { SafetensorsFile directory(folder.path()); }),
                   "it is a folder, a file is expected"));
    CHECK(contains(error_of([&] { SafetensorsFile device("/dev/zero"); }), "it is not a regular file"));
}

TEST_CASE("a file that was not finished leaves what was there", "[safetensors]")
{
    const TemporaryFolder folder;
    write_ones(folder / "a", 3);
    const std::string before = read_file(folder / "a");
    const std::vector<float> half(2, 5.0f);
    const auto unfinished = [&](bool commit) {
        SafetensorsWriter writer(folder / "a", {{"x", DType::fp32, {4}}}, {});
        writer.write("x", 0, buffer_over(half, DType::fp32));
        if (commit) writer.commit();
    };
    CHECK(error_of([&] { unfinished(false); }) == "no error");
    CHECK(error_of([&] { unfinished(true); }) == "2 elements of tensor 'x' of 4 were written");
    CHECK(read_file(folder / "a") == before);
    CHECK(names_in(folder.path()) == "a ");

    SafetensorsWriter writer(folder / "b", {{"x", DType::fp32, {3}}}, {});
    CHECK(contains(error_of([&] { writer.write("x", 2, buffer_over(half, DType::fp32)); }),
                   "do not fit tensor 'x' of 3 fp32"));
    CHECK(contains(error_of([&] { writer.write("x", 0, buffer_over(half, DType::fp64)); }),
                   "do not fit tensor 'x' of 3 fp32"));
    CHECK(error_of([&] { writer.write("y", 0, buffer_over(half, DType::fp32)); }) ==
          "tensor 'y' is none of those to be saved");
    CHECK(error_of([&] {
              SafetensorsWriter twice(folder / "c", {{"x", DType::fp32, {1}}, {"x", DType::fp32, {1}}}, {});
          }) == "tensor 'x' is to be saved twice");
}

TEST_CASE("a file that grows too long leaves nothing and says so", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::string said = in_child([&]() -> std::string {
        limit_file_size(4096);
        return error_of([&] { write_ones(folder / "a", 10'000); });
    });
    CHECK(said ==
          "cannot write " + quoted(folder / "a") +
              ": File too large: the disk or your share of it is full; free some space or save elsewhere");
    CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a full disk leaves nothing and is said to be one", "[safetensors]")
{
    const TemporaryFolder folder;
    const std::string said = in_child([&]() -> std::string {
        if (!mount_in_memory(folder.path(), 0, "size=16k")) return "no mount";
        const std::string error = error_of([&] { write_ones(folder / "a", 10'000); });
        return error + "; left: " + names_in(folder.path());
    });
    if (said == "no mount")
        WARN("this system lets no test mount a small disk: only the limit on file sizes was tried");
    else
        CHECK(said ==
              "cannot write " + quoted(folder / "a") +
                  ": No space left on device: the disk or your share of it is full; free some space or "
                  "save elsewhere; left: ");
}

TEST_CASE("a place where nothing can be written is named", "[safetensors]")
{
    const TemporaryFolder folder;
    write_file(folder / "file", "x");
    CHECK(error_of([&] { write_ones(folder / "file/a", 1); }) ==
          "cannot write " + quoted(folder / "file/a") +
              ": Not a directory: a part of this path is a file, a folder is expected");
    CHECK(contains(error_of([&] { write_ones(folder / "missing/a", 1); }), "No such file or directory"));
    CHECK(contains(error_of([] { write_ones("/dev/full", 1); }),
                   "something that is not a regular file is there"));
    CHECK(contains(error_of([&] { write_ones(folder.path(), 1); }),
                   "something that is not a regular file is there"));
}
