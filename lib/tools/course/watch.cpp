#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/progress.hpp"
#include "lib/tools/course/student.hpp"
#include "lib/tools/launch/launch.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr int poll_milliseconds = 200;
constexpr char interrupt = '\3';     // what Ctrl-C is on a terminal that gives single keys
constexpr char end_of_input = '\4';  // Ctrl-D

/// Makes the terminal give single keys, unechoed, from start() to stop(). Does nothing when there is none.
class SingleKeys {
  public:
    SingleKeys() : terminal_(isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0) { start(); }
    ~SingleKeys() { stop(); }
    SingleKeys(const SingleKeys&) = delete;
    SingleKeys& operator=(const SingleKeys&) = delete;

    void start() const
    {
        if (!terminal_) return;
        termios keys = before_;
        keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    void stop() const
    {
        if (terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }

    /// The key pressed within `poll_milliseconds`, or 0.
    char wait() const
    {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        char key = 0;
        if (poll(&input, terminal_ ? 1 : 0, poll_milliseconds) > 0 && read(STDIN_FILENO, &key, 1) != 1)
            return end_of_input;
        return key;
    }
    bool terminal() const { return terminal_; }

  private:
    termios before_{};
    bool terminal_;
};

using Times = std::map<fs::path, fs::file_time_type>;

Times times_of(const Places& places, const Manifest& manifest)
{
    Times times;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) {
            std::error_code problem;
            const fs::path file = places.exercise(lesson, part);
            const auto time = fs::last_write_time(file, problem);
            if (!problem) times[file] = time;
        }
    return times;
}

struct Position {
    const Lesson* lesson = nullptr;
    const Part* part = nullptr;
};

/// Where to go on: the first part of the course that is not done; the last one when all are.
Position next_position(const Places& places, const Manifest& manifest)
{
    const Progress progress = Progress::load(places.progress());
    for (const Lesson& lesson : manifest.lessons)
        if (const Part* part = first_open_part(lesson, progress)) return {&lesson, part};
    return {&manifest.lessons.back(), &manifest.lessons.back().parts.back()};
}

/// The part whose file was saved since; of several parts of one file, the first that is not done.
std::optional<Position> saved_position(const Places& places, const Manifest& manifest, const Times& before,
                                       const Times& now)
{
    const Progress progress = Progress::load(places.progress());
    std::optional<Position> saved;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) {
            const auto time = now.find(places.exercise(lesson, part));
            const auto old = before.find(places.exercise(lesson, part));
            if (time == now.end() || (old != before.end() && old->second == time->second)) continue;
            if (!saved || (progress.of(saved->part->id).done() && !progress.of(part.id).done()))
                saved = {&lesson, &part};
        }
    return saved;
}

class Watch {
  public:
    explicit Watch(const Places& places)
        : places_(places),
          manifest_(read_manifest(places.manifest())),
          at_(next_position(places_, manifest_)),
          times_(times_of(places_, manifest_))
    {
    }

    void run()
    {
        say_where();
        for (;;) {
            const char key = keys_.wait();
            if (key == 'q' || key == interrupt || key == end_of_input) return;
            if (key != 0) obey(key);
            run_what_was_saved();
        }
    }

  private:
    void obey(char key)
    {
        fmt::print("\n");
        if (key == 'h')
            show_hint(places_, manifest_, at_.lesson->name, at_.part->id, false);
        else if (key == 'n')
            at_ = next_position(places_, manifest_);
        else if (key == 'l')
            show_progress(places_, manifest_);
        else if (key == 'r')
            make();
        else
            return;
        say_where();
    }

    void run_what_was_saved()
    {
        Times now = times_of(places_, manifest_);
        const std::optional<Position> saved = saved_position(places_, manifest_, times_, now);
        times_ = std::move(now);
        if (!saved) return;
        at_ = *saved;
        make();
        say_where();
    }

    void make() const
    {
        const char* program = std::getenv("MAKE");
        keys_.stop();
        std::fflush(stdout);
        run_foreground({program == nullptr ? "make" : program, "-C", places_.root.string(),
                        "--no-print-directory", "exercise-" + at_.lesson->number(), "PART=" + at_.part->id},
                       {{"MAKEFLAGS", ""}, {"MAKELEVEL", "0"}});
        keys_.start();
    }

    void say_where() const
    {
        fmt::print("\n{} {}: {}\n", at_.part->id, at_.part->title,
                   places_.shown(places_.exercise(*at_.lesson, *at_.part)));
        fmt::print("{}\n", keys_.terminal()
                               ? "waiting for it to be saved; h hint, n next, l list, r run, q quit"
                               : "waiting for a file of exercises/ to be saved");
        std::fflush(stdout);
    }

    Places places_;
    Manifest manifest_;
    Position at_;
    Times times_;
    SingleKeys keys_;
};

}  // namespace

void watch_exercises(const Places& places)
{
    Watch(places).run();
}

}  // namespace shardlings
