//===- isa_aarch64.cpp - features of an AArch64 CPU -----------------------===//

#include "runtime/format/isa.h"

#include <sys/auxv.h>

namespace zero::rt {

namespace {
/// A feature under LLVM's name and the bit of the auxiliary vector that says that it is there and
/// that the kernel saves its state.
struct Feature {
  std::string_view name;
  unsigned long vector, bit;
};
} // namespace

// The numbers are those of the kernel's interface (asm/hwcap.h), which older headers have in part.
static constexpr Feature kFeatures[] = {
    {"fp-armv8", AT_HWCAP, 0},   {"neon", AT_HWCAP, 1},     {"aes", AT_HWCAP, 3},
    {"sha2", AT_HWCAP, 6},       {"crc", AT_HWCAP, 7},      {"lse", AT_HWCAP, 8},
    {"fullfp16", AT_HWCAP, 10},  {"rdm", AT_HWCAP, 12},     {"jsconv", AT_HWCAP, 13},
    {"complxnum", AT_HWCAP, 14}, {"rcpc", AT_HWCAP, 15},    {"ccpp", AT_HWCAP, 16},
    {"sha3", AT_HWCAP, 17},      {"sm4", AT_HWCAP, 19},     {"dotprod", AT_HWCAP, 20},
    {"sve", AT_HWCAP, 22},       {"fp16fml", AT_HWCAP, 23}, {"dit", AT_HWCAP, 24},
    {"rcpc-immo", AT_HWCAP, 26}, {"flagm", AT_HWCAP, 27},   {"ssbs", AT_HWCAP, 28},
    {"sb", AT_HWCAP, 29},        {"pauth", AT_HWCAP, 30},   {"ccdp", AT_HWCAP2, 0},
    {"sve2", AT_HWCAP2, 1},      {"altnzcv", AT_HWCAP2, 7}, {"fptoint", AT_HWCAP2, 8},
    {"f32mm", AT_HWCAP2, 10},    {"f64mm", AT_HWCAP2, 11},  {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},     {"bti", AT_HWCAP2, 17},    {"mte", AT_HWCAP2, 18},
    {"sme", AT_HWCAP2, 23},
};

std::vector<std::string_view> hostFeatures() {
  std::vector<std::string_view> result{kAArch64, "v8a"};
  for (const Feature &feature : kFeatures)
    if (::getauxval(feature.vector) >> feature.bit & 1)
      result.push_back(feature.name);
  return result;
}

} // namespace zero::rt
