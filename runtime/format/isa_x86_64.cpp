//===- isa_x86_64.cpp - features of an x86-64 CPU -------------------------===//

#include "runtime/format/isa.h"

#include <cpuid.h>

namespace zero::rt {

namespace {
/// The state that the operating system must save for a feature to be usable.
enum class State { None, Avx, Avx512 };

/// A feature under LLVM's name and the bit of CPUID that says it is there.
struct Feature {
  const char *name;
  unsigned leaf, subleaf;
  char reg;
  unsigned bit;
  State state;
};
} // namespace

static const Feature kFeatures[] = {
    {"cx8", 1, 0, 'd', 8, State::None},
    {"cmov", 1, 0, 'd', 15, State::None},
    {"mmx", 1, 0, 'd', 23, State::None},
    {"fxsr", 1, 0, 'd', 24, State::None},
    {"sse", 1, 0, 'd', 25, State::None},
    {"sse2", 1, 0, 'd', 26, State::None},
    {"sse3", 1, 0, 'c', 0, State::None},
    {"pclmul", 1, 0, 'c', 1, State::None},
    {"ssse3", 1, 0, 'c', 9, State::None},
    {"fma", 1, 0, 'c', 12, State::Avx},
    {"cx16", 1, 0, 'c', 13, State::None},
    {"sse4.1", 1, 0, 'c', 19, State::None},
    {"sse4.2", 1, 0, 'c', 20, State::None},
    {"movbe", 1, 0, 'c', 22, State::None},
    {"popcnt", 1, 0, 'c', 23, State::None},
    {"aes", 1, 0, 'c', 25, State::None},
    {"avx", 1, 0, 'c', 28, State::Avx},
    {"f16c", 1, 0, 'c', 29, State::Avx},
    {"bmi", 7, 0, 'b', 3, State::None},
    {"avx2", 7, 0, 'b', 5, State::Avx},
    {"bmi2", 7, 0, 'b', 8, State::None},
    {"avx512f", 7, 0, 'b', 16, State::Avx512},
    {"avx512dq", 7, 0, 'b', 17, State::Avx512},
    {"adx", 7, 0, 'b', 19, State::None},
    {"avx512ifma", 7, 0, 'b', 21, State::Avx512},
    {"avx512cd", 7, 0, 'b', 28, State::Avx512},
    {"sha", 7, 0, 'b', 29, State::None},
    {"avx512bw", 7, 0, 'b', 30, State::Avx512},
    {"avx512vl", 7, 0, 'b', 31, State::Avx512},
    {"avx512vbmi", 7, 0, 'c', 1, State::Avx512},
    {"avx512vbmi2", 7, 0, 'c', 6, State::Avx512},
    {"gfni", 7, 0, 'c', 8, State::None},
    {"vaes", 7, 0, 'c', 9, State::Avx},
    {"vpclmulqdq", 7, 0, 'c', 10, State::Avx},
    {"avx512vnni", 7, 0, 'c', 11, State::Avx512},
    {"avx512bitalg", 7, 0, 'c', 12, State::Avx512},
    {"avx512vpopcntdq", 7, 0, 'c', 14, State::Avx512},
    {"avx512fp16", 7, 0, 'd', 23, State::Avx512},
    {"avxvnni", 7, 1, 'a', 4, State::Avx},
    {"avx512bf16", 7, 1, 'a', 5, State::Avx512},
    {"sahf", 0x80000001, 0, 'c', 0, State::None},
    {"lzcnt", 0x80000001, 0, 'c', 5, State::None},
    {"sse4a", 0x80000001, 0, 'c', 6, State::None},
    {"64bit", 0x80000001, 0, 'd', 29, State::None},
    {"x86_64", 0x80000001, 0, 'd', 29, State::None},
};

/// Bits of XCR0 that the operating system must have set.
static bool osSaves(State state) {
  if (state == State::None)
    return true;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27))) // OSXSAVE
    return false;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  unsigned needed = state == State::Avx ? 0x06 : 0xe6;
  return (low & needed) == needed;
}

static bool hostHas(const Feature &feature) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &a, &b, &c, &d))
    return false;
  unsigned value = feature.reg == 'a' ? a : feature.reg == 'b' ? b : feature.reg == 'c' ? c : d;
  return (value >> feature.bit & 1) && osSaves(feature.state);
}

std::vector<std::string_view> hostFeatures() {
  std::vector<std::string_view> result;
  for (const Feature &feature : kFeatures)
    if (hostHas(feature))
      result.push_back(feature.name);
  return result;
}

} // namespace zero::rt
