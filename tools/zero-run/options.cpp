//===- options.cpp - zero-run's command line ------------------------------===//

#include "options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

using namespace zero::rt;

namespace zero::run {

namespace {
using Setter = std::function<Status(Options &, const std::string &)>;

/// One flag: `value` names its argument, empty for a switch.
struct Flag {
  const char *group, *name, *value, *help;
  Setter set;
};
} // namespace

static Status expected(const char *what, const std::string &got) {
  return fail(ZERO_RT_INVALID_ARGUMENT, "expected %s, got '%s'", what, escape(got).c_str());
}

//===----------------------------------------------------------------------===//
// Setters
//===----------------------------------------------------------------------===//

static Setter toText(std::string Options::*field) {
  return [field](Options &options, const std::string &text) {
    options.*field = text;
    return text.empty() ? expected("a file", text) : Status();
  };
}

static Status parseCount(const std::string &text, uint64_t &count) {
  char *end = nullptr;
  errno = 0;
  count = std::strtoull(text.c_str(), &end, 10);
  bool good = !text.empty() && text[0] >= '0' && text[0] <= '9' && !*end && errno == 0;
  return good ? Status() : expected("a whole number", text);
}

static Status parseNumber(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(number) ? Status() : expected("a number", text);
}

static Setter toInt(int zero_rt_session_options::*field) {
  return [field](Options &options, const std::string &text) {
    uint64_t count;
    ZERO_RT_TRY(parseCount(text, count));
    if (count > 1024)
      return expected("at most 1024", text);
    options.session.*field = static_cast<int>(count);
    return Status();
  };
}

static Setter toSwitch(int zero_rt_session_options::*field) {
  return [field](Options &options, const std::string &) {
    options.session.*field = 1;
    return Status();
  };
}

static Setter toSwitch(bool Options::*field) {
  return [field](Options &options, const std::string &) {
    options.*field = true;
    return Status();
  };
}

/// name=file[,name=file...]; file.npz:member picks a member, a lone file.npz all.
static Status setData(Options &options, const std::string &text) {
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    std::string item = text.substr(start, end - start);
    start = end + 1;
    DataFile file;
    size_t equals = item.find('=');
    if (equals != std::string::npos) {
      file.input = item.substr(0, equals);
      item = item.substr(equals + 1);
    }
    size_t colon = item.rfind(".npz:");
    if (colon != std::string::npos) {
      file.member = item.substr(colon + 5);
      item.resize(colon + 4);
    }
    if (item.empty() || (file.input.empty() && !item.ends_with(".npz")))
      return expected("name=file.npy or file.npz", text);
    file.path = item;
    options.data.push_back(file);
  }
  return {};
}

static Status setSteps(Options &options, const std::string &text) {
  return parseCount(text, options.steps);
}

static Status setLearningRate(Options &options, const std::string &text) {
  double number;
  ZERO_RT_TRY(parseNumber(text, number));
  options.learningRate = static_cast<float>(number);
  options.compilerFlags.push_back("--lr=" + text); // so that the plan says the same
  return {};
}

static Status setTimeout(Options &options, const std::string &text) {
  return parseNumber(text, options.session.timeout_seconds);
}

/// RANK:COLLECTIVE.
static Status setStall(Options &options, const std::string &text) {
  size_t colon = text.find(':');
  uint64_t rank, collective;
  if (colon == std::string::npos)
    return expected("RANK:COLLECTIVE", text);
  ZERO_RT_TRY(parseCount(text.substr(0, colon), rank));
  ZERO_RT_TRY(parseCount(text.substr(colon + 1), collective));
  options.session.stall_rank = static_cast<int>(rank);
  options.session.stall_collective = static_cast<int64_t>(collective);
  return {};
}

//===----------------------------------------------------------------------===//
// The flags
//===----------------------------------------------------------------------===//

static const std::vector<Flag> &flags() {
  static const std::vector<Flag> table = {
      {"Training", "data", "NAME=FILE,...",
       ".npy or .npz file of each input; its first dimension runs over\n"
       "batches and wraps round. FILE.npz:MEMBER picks a member; a FILE.npz\n"
       "without NAME serves all inputs that it has members for",
       setData},
      {"Training", "steps", "N", "steps to train (1)", setSteps},
      {"Training", "lr", "X", "learning rate, in place of the compiled one", setLearningRate},
      {"Training", "allow-nan", "", "go on when the loss is NaN or infinite",
       toSwitch(&zero_rt_session_options::allow_nan)},
      {"Results", "save", "FILE", "write the trained weights as .safetensors",
       toText(&Options::save)},
      {"Results", "log", "FILE", "write {\"step\":N,\"loss\":X} for each step, a line each",
       toText(&Options::log)},
      {"Results", "dump-gradients", "FILE",
       "write the gradients of step 0 as .safetensors, under the\nparameters' names",
       toText(&Options::gradients)},
      {"Results", "report-json", "FILE",
       "write memory by role, elements received, losses and seconds", toText(&Options::report)},
      {"Results", "quiet", "", "print nothing but warnings and errors", toSwitch(&Options::quiet)},
      {"Execution", "threads-per-rank", "N", "threads of library calls on each rank (1)",
       toInt(&zero_rt_session_options::threads_per_rank)},
      {"Execution", "timeout", "SECONDS", "longest wait for another rank (120)", setTimeout},
      {"Execution", "pin", "0|1", "bind ranks to cores (by default when they fill the machine)",
       toInt(&zero_rt_session_options::pin)},
      {"Execution", "check-memory", "",
       "guard the arenas, poison what a step leaves, measure the peak",
       toSwitch(&zero_rt_session_options::check_memory)},
      {"Execution", "stall", "RANK:N", "for tests: RANK never arrives at collective N", setStall},
      {"Help", "help", "", "print this text", toSwitch(&Options::help)},
      {"Help", "version", "", "print the version", toSwitch(&Options::version)},
  };
  return table;
}

std::string helpText() {
  std::string text =
      "usage: zero-run MODEL.zexe --data NAME=FILE,... [--steps=N] [options]\n"
      "       zero-run MODEL.onnx --zero-stage=S --ranks=N --data NAME=FILE,... [options]\n"
      "\n"
      "Trains a compiled model on its ranks, one thread each. A .onnx or .mlir file is first\n"
      "compiled by the zeroc beside this program, with every option that is not listed here.\n"
      "The loss of a step is that before its update. Files are written at the end, all or none.\n";
  const char *group = "";
  for (const Flag &flag : flags()) {
    if (std::string(group) != flag.group)
      text += format("\n%s\n", group = flag.group);
    std::string left = std::string("--") + flag.name + (*flag.value ? "=" : "") + flag.value;
    std::string right = flag.help;
    for (size_t at = 0; (at = right.find('\n', at)) != std::string::npos; at += 29)
      right.insert(at + 1, 28, ' ');
    text += format("  %-25s %s\n", left.c_str(), right.c_str());
  }
  return text +
         "\nExample\n"
         "  zero-run gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw --lr=1e-3 \\\n"
         "    --data input_ids=tokens.npy,labels=labels.npy --steps=10 --save=out.safetensors\n";
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static bool isModel(const std::string &text) {
  return text.ends_with(".zexe") || text.ends_with(".onnx") || text.ends_with(".mlir");
}

bool Options::needsCompiler() const { return model.ends_with(".onnx") || model.ends_with(".mlir"); }

namespace {
class Parser {
public:
  Parser(std::vector<std::string> words, Options &options) : words(words), options(options) {}

  Status run() {
    for (; at < words.size(); ++at)
      ZERO_RT_TRY(words[at].starts_with("-") ? parseFlag() : parseWord());
    return options.help || options.version ? Status() : check();
  }

private:
  Status parseFlag() {
    const std::string &word = words[at];
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    for (const Flag &flag : flags()) {
      if (name != std::string("--") + flag.name)
        continue;
      if (!*flag.value && equals != std::string::npos)
        return fail(ZERO_RT_INVALID_ARGUMENT, "option '%s' takes no value", name.c_str());
      if (!*flag.value)
        return flag.set(options, "");
      if (equals == std::string::npos && at + 1 == words.size())
        return fail(ZERO_RT_INVALID_ARGUMENT, "option '%s' needs a value: %s", name.c_str(),
                    flag.value);
      Status set =
          flag.set(options, equals == std::string::npos ? words[++at] : word.substr(equals + 1));
      return set.ok()
                 ? set
                 : fail(set.getCode(), "option '%s': %s", name.c_str(), set.getMessage().c_str());
    }
    if (name == "-o")
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "option '-o' belongs to zeroc; the executable is temporary here");
    foreign.push_back(word);
    options.compilerFlags.push_back(word);
    return {};
  }

  /// The model, or the value of a flag of zeroc's.
  Status parseWord() {
    const std::string &word = words[at];
    bool afterForeign = at > 0 && !foreign.empty() && words[at - 1] == foreign.back() &&
                        words[at - 1].find('=') == std::string::npos;
    if (options.model.empty() && (isModel(word) || !afterForeign))
      options.model = word;
    else if (afterForeign)
      options.compilerFlags.push_back(word);
    else
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected one model, got '%s' too",
                  escape(word).c_str());
    return {};
  }

  Status check() {
    if (options.model.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT, "no model; --help tells more");
    if (!options.needsCompiler() && !foreign.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT, "unknown option '%s'; --help tells more",
                  escape(foreign.front()).c_str());
    if (!options.gradients.empty() && options.steps == 0)
      return fail(ZERO_RT_INVALID_ARGUMENT, "--dump-gradients needs at least one step");
    return {};
  }

  std::vector<std::string> words;
  Options &options;
  std::vector<std::string> foreign; ///< flags that are not ours
  size_t at = 0;
};
} // namespace

Status parseOptions(int argc, char **argv, Options &options) {
  zero_rt_session_options_default(&options.session);
  return Parser({argv + std::min(argc, 1), argv + argc}, options).run();
}

} // namespace zero::run
