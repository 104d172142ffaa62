//===- probe.cpp - what element-wise kernels do ---------------------------===//

#include "check/kernels.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zero::check {

static constexpr int64_t kElements = 203; ///< vectors, and what is left of them
static constexpr unsigned kSeconds = 10;

namespace {
using Function = void (*)(void *const *, int64_t, int64_t);
using Buffers = std::vector<std::string>;

class Samples {
public:
  Samples(Function function, const std::vector<ProbedArgument> &arguments)
      : function(function), arguments(arguments) {}
  Meaning classify();

private:
  Meaning formOf();
  Buffers draw();
  std::string drawBytes(uint64_t bytes);
  Buffers run(Buffers buffers, int64_t from, int64_t begin, int64_t end) const;
  bool isElementwise();
  bool isSame(const Buffers &some, const Buffers &others, int64_t begin, int64_t end) const;
  bool matches(Meaning meaning);
  void probeZeros(Meaning &meaning);

  Function function;
  const std::vector<ProbedArgument> &arguments;
  std::mt19937 random{53};
};
} // namespace

/// Numbers of all magnitudes near 1, in which the last bits of each operation count.
std::string Samples::drawBytes(uint64_t bytes) {
  std::string drawn(bytes, '\0');
  std::uniform_real_distribution<float> numbers(0.25f, 4.0f);
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    const float number = numbers(random) * (random() % 4 ? 1.0f : 0.001f);
    std::memcpy(&drawn[at], &number, 4);
  }
  for (uint64_t at = bytes / 4 * 4; at < bytes; ++at)
    drawn[at] = char(random() % 2);
  return drawn;
}

Buffers Samples::draw() {
  Buffers buffers;
  for (const ProbedArgument &argument : arguments)
    buffers.push_back(drawBytes(argument.width ? argument.width * kElements : argument.bytes));
  return buffers;
}

/// Runs elements [begin, end) with the arguments from element `from` on.
Buffers Samples::run(Buffers buffers, int64_t from, int64_t begin, int64_t end) const {
  std::vector<void *> places;
  for (size_t i = 0; i < buffers.size(); ++i)
    places.push_back(buffers[i].data() + arguments[i].width * uint64_t(from));
  function(places.data(), begin, end);
  return buffers;
}

/// Whether elements [begin, end) of all that is written are the same.
bool Samples::isSame(const Buffers &some, const Buffers &others, int64_t begin, int64_t end) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint64_t width = arguments[i].width;
    if (arguments[i].written &&
        std::memcmp(some[i].data() + width * uint64_t(begin),
                    others[i].data() + width * uint64_t(begin), width * uint64_t(end - begin)) != 0)
      return false;
  }
  return true;
}

/// Elements are the same wherever the arguments begin, in any share of the iterations, and whatever
/// the other elements are; and nothing else is written.
bool Samples::isElementwise() {
  const Buffers given = draw(), whole = run(given, 0, 0, kElements);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].written && whole[i] != given[i])
      return false;
  for (int64_t from = 1; from < kElements; from += 7)
    if (!isSame(whole, run(given, from, 0, kElements - from), from, kElements) ||
        !isSame(whole, run(given, 0, from, kElements), from, kElements))
      return false;
  for (int64_t kept = 0; kept < kElements; kept += 5) {
    Buffers others = draw();
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const uint64_t width = arguments[i].width; width > 0)
        others[i].replace(width * uint64_t(kept), width, given[i], width * uint64_t(kept), width);
      else
        others[i] = given[i];
    if (!isSame(whole, run(others, 0, 0, kElements), kept, kept + 1))
      return false;
  }
  return true;
}

static float numberAt(const std::string &bytes, int64_t i) {
  float number;
  std::memcpy(&number, &bytes[size_t(4 * i)], 4);
  return number;
}

bool Samples::matches(Meaning meaning) {
  const Buffers given = draw(), left = run(given, 0, 0, kElements);
  for (int64_t i = 0; i < kElements; ++i) {
    const float own = numberAt(given[0], i), other = numberAt(given[1], i),
                result = numberAt(left[0], i), scaled = other * meaning.factor;
    if (result != (meaning.adds ? own + scaled : scaled) &&
        !(meaning.adds && result == std::fma(other, meaning.factor, own)))
      return false;
  }
  return true;
}

/// Bytes of zeros as float32.
static std::string zerosOf(uint64_t bytes, bool minus) {
  std::string zeros(bytes, '\0');
  for (size_t at = 3; at < bytes; at += 4)
    zeros[at] = minus ? char(0x80) : '\0';
  return zeros;
}

void Samples::probeZeros(Meaning &meaning) {
  std::vector<size_t> operands;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].width > 0 && arguments[i].read)
      operands.push_back(i);
  for (uint64_t signs = 0; signs < 64 && signs >> operands.size() == 0; ++signs) {
    Buffers given = draw();
    for (size_t i = 0; i < operands.size(); ++i)
      given[operands[i]] = zerosOf(given[operands[i]].size(), signs >> i & 1);
    const Buffers left = run(given, 0, 0, kElements);
    bool zeros = true, minusZeros = true;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].written) {
        zeros &= left[i] == zerosOf(left[i].size(), false);
        minusZeros &= arguments[i].width % 4 == 0 && left[i] == zerosOf(left[i].size(), true);
      }
    meaning.zeros |= uint64_t(zeros) << signs;
    meaning.minusZeros |= uint64_t(minusZeros) << signs;
  }
}

Meaning Samples::classify() {
  if (!isElementwise())
    return {};
  Meaning meaning = formOf();
  probeZeros(meaning);
  return meaning;
}

Meaning Samples::formOf() {
  const bool isPair = arguments.size() == 2 && arguments[0].width == 4 && arguments[1].width == 4 &&
                      arguments[0].written && !arguments[1].written;
  if (!isPair)
    return {Meaning::Element};
  // What 1 becomes: with 0 in the first argument, the factor of the second one.
  Buffers ones(2, std::string(4 * kElements, '\0'));
  const float one = 1;
  std::memcpy(&ones[1][0], &one, 4);
  const float factor = numberAt(run(ones, 0, 0, kElements)[0], 0);
  for (bool adds : {false, true})
    if (matches({Meaning::Linear, adds, factor}))
      return {Meaning::Linear, adds, factor};
  return {Meaning::Element};
}

static Function load(const std::string &code, const std::string &symbol) {
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, code.data(), code.size()) != ssize_t(code.size()))
    return nullptr;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return object ? reinterpret_cast<Function>(dlsym(object, symbol.c_str())) : nullptr;
}

Meaning probe(const std::string &code, const std::string &symbol,
              const std::vector<ProbedArgument> &arguments) {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    Meaning meaning;
    if (Function function = load(code, symbol))
      meaning = Samples(function, arguments).classify();
    _exit(write(ends[1], &meaning, sizeof(meaning)) == sizeof(meaning) ? 0 : 1);
  }
  close(ends[1]);
  Meaning meaning;
  if (child < 0 || read(ends[0], &meaning, sizeof(meaning)) != sizeof(meaning))
    meaning = {};
  close(ends[0]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return meaning;
}

} // namespace zero::check
