//===- sum_code.cpp - sums over ranks on a GPU ----------------------------===//
//
// Written as text, so that they need neither the compiler nor a toolkit: the driver
// assembles it for the GPU that is there. Any GPU since sm_80 takes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/device/sum_code.h"

#include <algorithm>

namespace zero::rt::cuda {

static constexpr unsigned kThreads = 256; ///< of a block
static constexpr uint64_t kMostElements = uint64_t((uint64_t(1) << 31) - 1) * kThreads;

static const Reduction kSums[] = {
    {ZERO_RT_F32},
    {ZERO_RT_F64},
    {ZERO_RT_I32},
    {ZERO_RT_I64},
    {ZERO_RT_F16},
    {ZERO_RT_BF16},
    {ZERO_RT_F16, false, ZERO_RT_F32},
    {ZERO_RT_BF16, false, ZERO_RT_F32},
};

std::string sumSymbol(const Reduction &how, SumOrder order) {
  std::string name = format("zero_sum_%d_by_%d_%s", order.sources, order.group, nameOf(how.dtype));
  return how.arithmeticType() == how.dtype ? name : name + "_in_" + nameOf(how.arithmetic);
}

namespace {

/// How PTX says a sum. Elements are in registers %x (the sum) and %y of type `type`.
struct Spelling {
  const char *type; ///< that is added in
  const char *add, *divide, *divisor;
  /// Narrow elements, in %h, become %f and are rounded back; empty: they are of `type`.
  const char *widen = "", *narrow = "";
};

Spelling spellingOf(DType dtype) {
  switch (dtype) {
  case ZERO_RT_F64:
    return {"f64", "add.rn.f64", "div.rn.f64", "cvt.rn.f64.u64"};
  case ZERO_RT_I32:
    return {"s32", "add.s32", "div.s32", "cvt.u32.u64"};
  case ZERO_RT_I64:
    return {"s64", "add.s64", "div.s64", "mov.b64"};
  case ZERO_RT_F16:
    return {"f32",           "add.rn.f32", "div.rn.f32", "cvt.rn.f32.u64", "cvt.f32.f16 %s, %%h;",
            "cvt.rn.f16.f32"};
  case ZERO_RT_BF16: // its 16 bits are the upper ones of a float32
    return {"f32",
            "add.rn.f32",
            "div.rn.f32",
            "cvt.rn.f32.u64",
            "mov.b32 %s, {%%zero, %%h};",
            "cvt.rn.bf16.f32"};
  default:
    return {"f32", "add.rn.f32", "div.rn.f32", "cvt.rn.f32.u64"};
  }
}

class Writer {
public:
  Writer(const Reduction &how, SumOrder order)
      : how(how), order(order), spelling(spellingOf(how.dtype)) {}

  std::string write() {
    text = ".visible .entry " + sumSymbol(how, order) + "(";
    for (int i = 0; i < order.sources; ++i)
      text += ".param .u64 s" + std::to_string(i) + ", ";
    text += ".param .u64 d, .param .u64 n, .param .u64 k)\n{\n";
    line(".reg .pred %p;");
    line(".reg .b32 %r<3>;");
    line(".reg .b64 %i, %n, %at, %k;");
    line(".reg .b16 %h, %zero;");
    line(format(".reg .%s %%x, %%y, %%group, %%k_as_value;", spelling.type));
    writeIndex();
    writeGroup(0, "%x");
    for (int first = order.group; first < order.sources; first += order.group) {
      writeGroup(first, "%group");
      add("%x", "%group");
    }
    line("ld.param.u64 %k, [k];");
    line(format("%s %%k_as_value, %%k;", spelling.divisor));
    line(format("%s %%x, %%x, %%k_as_value;", spelling.divide));
    writeResult();
    return text + "}\n";
  }

private:
  void line(const std::string &words) { text += "  " + words + "\n"; }

  /// %i: bytes to the element of this thread.
  void writeIndex() {
    line("mov.u32 %r0, %ctaid.x;");
    line("mov.u32 %r1, %ntid.x;");
    line("mov.u32 %r2, %tid.x;");
    line("mul.wide.u32 %i, %r0, %r1;");
    line("cvt.u64.u32 %at, %r2;");
    line("add.u64 %i, %i, %at;");
    line("ld.param.u64 %n, [n];");
    line("setp.ge.u64 %p, %i, %n;");
    line("@%p ret;");
    line(format("mul.lo.u64 %%i, %%i, %zu;", sizeOf(how.dtype)));
    line("mov.b16 %zero, 0;");
  }

  void writePlace(const std::string &parameter) {
    line("ld.param.u64 %at, [" + parameter + "];");
    line("cvta.to.global.u64 %at, %at;");
    line("add.u64 %at, %at, %i;");
  }

  void widen(const char *into) { line(format(spelling.widen, into)); }
  void narrow(const char *from) { line(format("%s %%h, %s;", spelling.narrow, from)); }

  void load(int index, const char *into) {
    writePlace("s" + std::to_string(index));
    if (!*spelling.widen)
      return line(format("ld.global.%s %s, [%%at];", spelling.type, into));
    line("ld.global.b16 %h, [%at];");
    widen(into);
  }

  void add(const char *sum, const char *next) {
    line(format("%s %s, %s, %s;", spelling.add, sum, sum, next));
    if (*spelling.widen && how.arithmeticType() == how.dtype) { // rounded each time
      narrow(sum);
      widen(sum);
    }
  }

  /// sum = the sources of the group that begins with `first`.
  void writeGroup(int first, const char *sum) {
    load(first, sum);
    for (int i = first + 1; i < std::min(order.sources, first + order.group); ++i) {
      load(i, "%y");
      add(sum, "%y");
    }
  }

  void writeResult() {
    writePlace("d");
    if (!*spelling.widen)
      return line(format("st.global.%s [%%at], %%x;", spelling.type));
    narrow("%x");
    line("st.global.b16 [%at], %h;");
  }

  const Reduction &how;
  SumOrder order;
  Spelling spelling;
  std::string text;
};

} // namespace

std::string sumCode(SumOrder order) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n";
  for (const Reduction &how : kSums)
    text += Writer(how, order).write();
  return text;
}

Status SumKernels::load(std::shared_ptr<const Gpu> gpu, SumOrder order,
                        std::shared_ptr<const SumKernels> &kernels) {
  auto made = std::make_shared<SumKernels>();
  ZERO_RT_TRY(GpuModule::load(std::move(gpu), sumCode(order).c_str(), made->module));
  for (const Reduction &how : kSums) {
    Function function;
    ZERO_RT_TRY(made->module->find(sumSymbol(how, order), function));
    made->functions.push_back({how, function});
  }
  kernels = std::move(made);
  return {};
}

Status SumKernels::run(const Reduction &how, std::span<const Address> addresses, uint64_t elements,
                       int divisor, const Lanes &lanes) const {
  if (elements == 0)
    return {};
  if (elements > kMostElements)
    return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %llu elements at a time",
                static_cast<unsigned long long>(elements));
  uint64_t divide = uint64_t(divisor);
  std::vector<void *> parameters;
  for (const Address &address : addresses)
    parameters.push_back(const_cast<Address *>(&address));
  parameters.push_back(&elements);
  parameters.push_back(&divide);
  for (const auto &[known, function] : functions)
    if (known.dtype == how.dtype && known.arithmeticType() == how.arithmeticType())
      return lanes.check(lanes.driver().cuLaunchKernel(
                             function, unsigned((elements + kThreads - 1) / kThreads), 1, 1,
                             kThreads, 1, 1, 0, lanes.current(), parameters.data(), nullptr),
                         "cuLaunchKernel of a sum over ranks");
  return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %s", nameOf(how.dtype));
}

} // namespace zero::rt::cuda
