// Checkpoints that cannot be loaded, and saves that cannot be finished.
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "lib/tools/train/checkpoint.hpp"
#include "lib/tools/train/step_folder.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/child.hpp"
#include "tests/lib/folder.hpp"
#include "tests/lib/small_model.hpp"

using namespace shardlings;

namespace {

TrainingState at_step(std::int64_t step)
{
    TrainingState state;
    state.step = step;
    return state;
}

/// A checkpoint to damage, and the message that loading it gives then.
struct Damaged {
    TemporaryFolder folder;
    std::filesystem::path step;

    explicit Damaged(DType dtype = DType::fp32)
    {
        SmallModel model(dtype, 1);
        model.scramble(2);
        step = save_checkpoint(folder.path(), small_shape, model.parameters, model.states, at_step(4));
    }

    /// Puts `after` in the place of `before`, of the same length in a safetensors file, once.
    void replace(const std::string& file, const std::string& before, const std::string& after) const
    {
        std::string bytes = read(file);
        const std::size_t at = bytes.find(before);
        check(at != std::string::npos, "{} has no {}", file, before);
        write(file, bytes.replace(at, before.size(), after));
    }
    /// Overwrites the last bytes of the file.
    void replace_end(const std::string& file, const std::string& end) const
    {
        std::string bytes = read(file);
        write(file, bytes.replace(bytes.size() - end.size(), end.size(), end));
    }
    std::string read(const std::string& file) const
    {
        std::ifstream stream(step / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void write(const std::string& file, const std::string& bytes) const
    {
        std::ofstream(step / file, std::ios::binary) << bytes;
    }

    std::string message(const ModelShape& shape = small_shape, DType dtype = DType::fp32) const
    {
        SmallModel loaded(dtype, 7, shape);
        return error_of([&] { load_checkpoint(step, shape, loaded.parameters, &loaded.states); });
    }
    std::string named(const std::string& file) const { return quoted(step / file); }
};

}  // namespace

TEST_CASE("a checkpoint that is not there is said to be missing", "[checkpoint]")
{
    const TemporaryFolder folder;
    SmallModel model(DType::fp32, 1);
    const auto message = [&](const std::filesystem::path& path) {
        return error_of([&] { load_checkpoint(path, small_shape, model.parameters, &model.states); });
    };
    CHECK(message(folder / "nowhere") == "there is no checkpoint " + quoted(folder / "nowhere"));
    CHECK(message(folder.path()) == "there is no checkpoint in " + quoted(folder.path()) +
                                        ": expected a model.safetensors or complete folders step-…");
    std::ofstream(folder / "notes.txt") << "These are notes, not a model.";
    CHECK(
        contains(message(folder / "notes.txt"), quoted(folder / "notes.txt") + " is not a safetensors file"));
    CHECK(contains(message(folder / "notes.txt/x"), quoted(folder / "notes.txt/x")));
    CHECK(contains(message("/dev/null"), "cannot read '/dev/null': it is not a regular file"));
    std::filesystem::create_directories(folder / "odd/model.safetensors");
    CHECK(contains(message(folder / "odd"), "model.safetensors': it is a folder"));
    CHECK(contains(error_of([&] { read_model_shape(folder / "nowhere"); }), "there is no checkpoint"));
    CHECK(contains(error_of([&] { read_model_dtype(folder / "nowhere"); }), "there is no checkpoint"));
}

TEST_CASE("damaged tensors are named with their file", "[checkpoint]")
{
    const Damaged checkpoint;
    REQUIRE(checkpoint.message() == "no error");
    using namespace std::string_literals;

    SECTION("truncated")
    {
        for (const std::string file : {"model.safetensors", "optimizer.safetensors"}) {
            const std::string bytes = checkpoint.read(file);
            for (const std::size_t size :
                 {std::size_t{0}, std::size_t{5}, bytes.size() / 8, bytes.size() - 1}) {
                checkpoint.write(file, bytes.substr(0, size));
                CHECK(contains(checkpoint.message(), checkpoint.named(file) + " is truncated"));
            }
            checkpoint.write(file, bytes);
        }
    }
    SECTION("missing")
    {
        checkpoint.replace("model.safetensors", "transformer.h.1.ln_2.bias", "transformer.h.1.ln_2.bios");
        CHECK(checkpoint.message() ==
              checkpoint.named("model.safetensors") + " has no tensor 'h.1.ln_2.bias'");
    }
    SECTION("missing optimizer states")
    {
        checkpoint.replace("optimizer.safetensors", "v.ln_f.bias", "v.ln_f.bios");
        CHECK(checkpoint.message() ==
              checkpoint.named("optimizer.safetensors") + " has no tensor 'v.ln_f.bias'");
    }
    SECTION("another shape")
    {
        checkpoint.replace("model.safetensors", "[8,24]", "[24,8]");
        CHECK(checkpoint.message() ==
              checkpoint.named("model.safetensors") +
                  ": tensor 'transformer.h.0.attn.c_attn.weight' has the shape 24 x 8, this "
                  "model's has 8 x 24");
    }
    SECTION("not finite")
    {
        const std::string nan = "\x00\x00\xc0\x7f"s, infinity = "\x00\x00\x80\xff"s;
        for (const std::string& value : {nan, infinity}) {
            const std::string model = checkpoint.read("model.safetensors");
            checkpoint.replace_end("model.safetensors", value);
            CHECK(checkpoint.message() ==
                  checkpoint.named("model.safetensors") +
                      ": element 7 of tensor 'transformer.ln_f.bias' is NaN, infinite or too large for fp32");
            checkpoint.write("model.safetensors", model);
        }
        checkpoint.replace_end("optimizer.safetensors", nan);
        CHECK(checkpoint.message() ==
              checkpoint.named("optimizer.safetensors") +
                  ": element 7 of tensor 'v.ln_f.bias' is NaN, infinite or too large for fp32");
    }
    SECTION("too large for the dtype asked for")
    {
        checkpoint.replace_end("model.safetensors", "\x00\x50\xc3\x47"s);  // 100 000
        CHECK(checkpoint.message(small_shape, DType::bf16) == "no error");
        CHECK(contains(checkpoint.message(small_shape, DType::fp16),
                       "'ln_f.bias' is NaN, infinite or too large for fp16"));
    }
    SECTION("whole numbers instead of weights")
    {
        // I32 has F32's size; a space makes up for the letter.
        checkpoint.replace("model.safetensors", R"("dtype":"F32")", R"("dtype":"I32")");
        CHECK(contains(checkpoint.message(), "holds I32, which cannot be read as fp32"));
    }
}

TEST_CASE("files that are not one checkpoint are refused", "[checkpoint]")
{
    SECTION("master weights of another model")
    {
        const Damaged checkpoint(DType::bf16);
        REQUIRE(checkpoint.message(small_shape, DType::bf16) == "no error");
        checkpoint.replace_end("model.safetensors", std::string("\x80\x3f", 2));  // 1
        CHECK(
            checkpoint.message(small_shape, DType::bf16) ==
            checkpoint.named("model.safetensors") + " and " + checkpoint.named("optimizer.safetensors") +
                " do not belong together: the master weights of 'ln_f.bias' are not those of the parameter");
    }
    SECTION("a file of it is missing")
    {
        for (const std::string file : {"optimizer.safetensors", "training.json"}) {
            const Damaged checkpoint;
            std::filesystem::remove(checkpoint.step / file);
            CHECK(checkpoint.message() ==
                  "the checkpoint " + quoted(checkpoint.step) + " is not complete: it has no " + file);
        }
    }
}

TEST_CASE("a model of another shape is refused with both shapes", "[checkpoint]")
{
    const Damaged checkpoint;
    const auto asked = [&](const ModelShape& shape) { return checkpoint.message(shape); };
    CHECK(asked({3, 8, 2, 6, 256}) ==
          quoted(checkpoint.step) +
              " holds a model of --layers 2 --hidden 8 --heads 2 --seq 6 --vocab 256, not "
              "of --layers 3 --hidden 8 --heads 2 --seq 6 --vocab 256");
    for (const ModelShape& shape : {ModelShape{1, 8, 2, 6, 256},
                                    {2, 16, 2, 6, 256},
                                    {2, 8, 4, 6, 256},
                                    {2, 8, 2, 7, 256},
                                    {2, 8, 2, 6, 257}})
        CHECK(contains(asked(shape), "holds a model of --layers 2"));

    // Without config.json the tensors tell, but for the number of heads.
    for (const char* file : {"config.json", "training.json", "optimizer.safetensors"})
        std::filesystem::remove(checkpoint.step / file);
    CHECK(asked(small_shape) == "no error");
    CHECK(contains(asked({1, 8, 2, 6, 256}), "holds a model of more than 1 layer"));
    CHECK(contains(asked({3, 8, 2, 6, 256}), "has no tensor 'h.2.ln_1.weight'"));
    CHECK(contains(asked({2, 8, 2, 7, 256}),
                   "tensor 'transformer.wpe.weight' has the shape 6 x 8, this model's has 7 x 8"));
}

TEST_CASE("JSON files that do not fit are refused", "[checkpoint]")
{
    const Damaged checkpoint;
    const auto with = [&](const std::string& file, const std::string& before, const std::string& after) {
        const std::string text = checkpoint.read(file);
        checkpoint.replace(file, before, after);
        std::string message = checkpoint.message();
        checkpoint.write(file, text);
        CHECK((message == "no error" || contains(message, checkpoint.named(file))));
        return message;
    };
    SECTION("config.json")
    {
        const auto config = [&](const std::string& before, const std::string& after) {
            return with("config.json", before, after);
        };
        CHECK(contains(config("{", "["), "is not a JSON object"));
        CHECK(
            contains(config("gpt2\"", "llama\""), "does not describe a GPT-2: its model_type is \"llama\""));
        CHECK(contains(config("model_type", "model_kind"), "its model_type is missing"));
        CHECK(contains(config("n_layer", "layers"), "has no 'n_layer'"));
        CHECK(contains(config("\"n_layer\": 2", "\"n_layer\": 2.5"),
                       "'n_layer' is 2.5: expected a whole number"));
        CHECK(contains(config("\"n_layer\": 2", "\"n_layer\": -2"), "--layers is -2"));
        CHECK(contains(config("gelu_new", "relu"),
                       "'activation_function' is \"relu\": this program's model has \"gelu_new\""));
        CHECK(contains(config("1e-05", "1e-06"), "'layer_norm_epsilon' is 1e-06"));
        CHECK(contains(config("true", "false"), "'tie_word_embeddings' is false"));
        CHECK(contains(config("\"n_head\": 2", "\"n_head\": 2, \"n_inner\": 16"),
                       "'n_inner' is 16: this program's model has 32"));
        CHECK(config("\"n_head\": 2", "\"n_head\": 2, \"n_inner\": 32") == "no error");
    }
    SECTION("training.json")
    {
        const auto state = [&](const std::string& before, const std::string& after) {
            return with("training.json", before, after);
        };
        CHECK(contains(state("}", ""), "is not a JSON object"));
        CHECK(contains(state("\"version\": 1", "\"version\": 2"),
                       "has version 2: this program reads version 1"));
        CHECK(contains(state("\"seed\"", "\"sead\""), "has no 'seed'"));
        CHECK(contains(state("fp32", "fp31"), "unknown dtype 'fp31'"));
        CHECK(contains(state("\"step\": 4", "\"step\": -1"), "0 optimizer steps in -1 steps"));
        CHECK(contains(state("65536.0", "0.0"), "a loss scale of 0: expected more than 0"));
        CHECK(contains(state("good_steps", "god_steps"), "has no 'good_steps'"));
    }
}

TEST_CASE("a killed save leaves only whole checkpoints", "[checkpoint]")
{
    const TemporaryFolder folder;
    SmallModel model(DType::bf16, 1);
    // Step k has the numbers of scramble(k), so that files of two steps cannot pass for one.
    const auto save_step = [&](std::int64_t step) {
        model.scramble(static_cast<std::uint64_t>(step));
        model.states.step = step;
        save_checkpoint(folder.path(), small_shape, model.parameters, model.states, at_step(step));
    };
    save_step(1);
    std::mt19937 random(1);
    std::int64_t newest = 1;
    int in_the_middle = 0;
    for (int kill_number = 0; kill_number < 25; ++kill_number) {
        const pid_t child = start_child([&] {
            // The first step of each child replaces one that is there.
            for (std::int64_t step = newest;; ++step) save_step(step);
        });
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));  // not ended by an error of its own
        if (contains(names_in(folder.path()), ".tmp")) ++in_the_middle;

        SmallModel loaded(DType::bf16, 7), expected(DType::bf16, 7);
        const LoadedCheckpoint result =
            load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);
        REQUIRE(result.state.step >= newest);
        newest = result.state.step;
        expected.scramble(static_cast<std::uint64_t>(newest));
        expected.states.step = newest;
        REQUIRE(difference(expected, loaded) == "");
        // And every older one is still there.
        load_checkpoint(folder / "step-00000001", small_shape, loaded.parameters, &loaded.states);
    }
    CHECK(in_the_middle > 0);
    save_step(newest + 1);
    CHECK_FALSE(contains(names_in(folder.path()), ".tmp"));
}

TEST_CASE("a save that does not fit leaves nothing and older steps as they were", "[checkpoint]")
{
    SmallModel model(DType::fp32, 1);
    const auto save_to = [&](const std::filesystem::path& folder, std::int64_t step) {
        return error_of(
            [&] { save_checkpoint(folder, small_shape, model.parameters, model.states, at_step(step)); });
    };
    // Smaller than the parameters; larger than those but smaller than the optimizer states.
    const std::uint64_t model_bytes = model.parameters.values().bytes();
    for (const std::uint64_t room : {model_bytes / 2, model_bytes * 3 / 2}) {
        const TemporaryFolder folder;
        REQUIRE(save_to(folder.path(), 1) == "no error");
        const std::string said = in_child([&]() -> std::string {
            limit_file_size(room);
            const std::string error = save_to(folder.path(), 1);
            return save_to(folder.path(), 2) + (error == "no error" ? "" : " twice");
        });
        CHECK(contains(said, "cannot write '"));
        CHECK(contains(said, "File too large: the disk or your share of it is full"));
        CHECK(contains(said, " twice"));
        CHECK(names_in(folder.path()) == "step-00000001 ");
        SmallModel loaded(DType::fp32, 7);
        load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);
        CHECK(difference(model, loaded) == "");
    }
    const TemporaryFolder folder;
    const std::string said = in_child([&]() -> std::string {
        if (!mount_in_memory(folder.path(), 0, "size=200k")) return "no mount";
        std::string errors;
        for (std::int64_t step = 1; step < 9; ++step) {
            errors = save_to(folder.path(), step);
            if (errors != "no error") break;
        }
        SmallModel loaded(DType::fp32, 7);
        load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);
        return errors + "; left: " + names_in(folder.path()) + difference(model, loaded);
    });
    if (said == "no mount") {
        WARN("this system lets no test mount a small disk: only the limit on file sizes was tried");
        return;
    }
    // A checkpoint takes three times the parameters' bytes and some for the headers: 200 KiB hold few.
    CHECK(contains(said, "No space left on device: the disk or your share of it is full"));
    CHECK(contains(said, "; left: step-00000001 "));
    CHECK_FALSE(contains(said, ".tmp "));
}

TEST_CASE("a folder that cannot be written to is named", "[checkpoint]")
{
    SmallModel model(DType::fp32, 1);
    const auto save_to = [&](const std::filesystem::path& folder) {
        return error_of(
            [&] { save_checkpoint(folder, small_shape, model.parameters, model.states, at_step(1)); });
    };
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    for (const char* path : {"file", "file/below"})
        CHECK(save_to(folder / path) ==
              "cannot write " + quoted(folder / path) +
                  ": Not a directory: a part of this path is a file, a folder is expected");
    std::ofstream(folder / "step-00000001") << "x";
    CHECK(contains(save_to(folder.path()), "cannot replace " + quoted(folder / "step-00000001")));
    CHECK(names_in(folder.path()) == "file step-00000001 ");

    std::filesystem::create_directory(folder / "locked");
    const std::string said = in_child([&]() -> std::string {
        if (geteuid() != 0) {
            std::filesystem::permissions(
                folder / "locked", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
            return save_to(folder / "locked");
        }
        // Permissions do not bind root, a read-only file system does.
        return mount_in_memory(folder / "locked", MS_RDONLY, "") ? save_to(folder / "locked") : "no mount";
    });
    if (said == "no mount")
        WARN("this system lets no test mount a read-only disk: only paths under a file were tried");
    else
        CHECK(contains(said, ": choose a folder that you may write to"));
}

TEST_CASE("two processes do not save to one folder at a time", "[checkpoint]")
{
    const TemporaryFolder folder;
    const StepFolder held(folder.path(), 1);
    const std::string said = in_child([&] { return error_of([&] { StepFolder second(folder.path(), 2); }); });
    CHECK(said ==
          "another process is saving to " + quoted(folder.path()) + ": choose another folder for this one");
    CHECK(names_in(folder.path()) == "step-00000001.tmp ");
    CHECK(contains(error_of([&] { StepFolder negative(folder / "x", -1); }), "step -1 cannot be saved"));
}
