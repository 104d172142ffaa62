//===- half.cpp - 16-bit floats to and from f32, in vectors ---------------===//
//
// The loops are written on vectors of 16, which a compiler splits to what the machine
// has, and on x86-64 compiled for three of them: optimising a plain loop is left to chance, and
// these run at the speed of memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/half.h"

#include "runtime/support/vector_targets.h"

#include <cstring>

namespace zero::rt {

static constexpr size_t kLanes = 16;

template <typename T>
using Lanes = T __attribute__((ext_vector_type(kLanes)));

namespace {
enum class Conversion { FromFloat16, FromBFloat16, ToFloat16, ToBFloat16 };

/// One way for 16 elements: Source and Target in memory.
struct WidenFloat16 {
  using Source = _Float16;
  using Target = float;
  [[gnu::always_inline]] static void convert(const Lanes<_Float16> &in, Lanes<float> &out) {
    out = __builtin_convertvector(in, Lanes<float>);
  }
};

struct NarrowFloat16 {
  using Source = float;
  using Target = _Float16;
  [[gnu::always_inline]] static void convert(const Lanes<float> &in, Lanes<_Float16> &out) {
    out = __builtin_convertvector(in, Lanes<_Float16>);
  }
};

struct WidenBFloat16 {
  using Source = uint16_t;
  using Target = uint32_t;
  [[gnu::always_inline]] static void convert(const Lanes<uint16_t> &in, Lanes<uint32_t> &out) {
    out = __builtin_convertvector(in, Lanes<uint32_t>) << 16;
  }
};

/// Like BFloat16's constructor. The processor's instruction would flush subnormals.
struct NarrowBFloat16 {
  using Source = uint32_t;
  using Target = uint16_t;
  [[gnu::always_inline]] static void convert(const Lanes<uint32_t> &in, Lanes<uint16_t> &out) {
    const Lanes<uint32_t> rounded = (in + 0x7fff + ((in >> 16) & 1)) >> 16;
    const Lanes<uint32_t> quiet = (in >> 16) | 0x40;
    const Lanes<uint32_t> isNan = (Lanes<uint32_t>)((in & 0x7fffffff) > 0x7f800000);
    out = __builtin_convertvector((rounded & ~isNan) | (quiet & isNan), Lanes<uint16_t>);
  }
};
} // namespace

template <typename Convert>
[[gnu::always_inline]] static inline void convertAll(const char *source, char *destination,
                                                     size_t count) {
  using Source = typename Convert::Source;
  using Target = typename Convert::Target;
  Lanes<Source> in;
  Lanes<Target> out;
  for (; count >= kLanes; count -= kLanes) {
    std::memcpy(&in, source, sizeof(in));
    Convert::convert(in, out);
    std::memcpy(destination, &out, sizeof(out));
    source += sizeof(in);
    destination += sizeof(out);
  }
  if (count == 0)
    return;
  in = 0;
  std::memcpy(&in, source, count * sizeof(Source));
  Convert::convert(in, out);
  std::memcpy(destination, &out, count * sizeof(Target));
}

[[gnu::always_inline]] static inline void run(Conversion way, const char *source, char *destination,
                                              size_t count) {
  switch (way) {
  case Conversion::FromFloat16:
    return convertAll<WidenFloat16>(source, destination, count);
  case Conversion::FromBFloat16:
    return convertAll<WidenBFloat16>(source, destination, count);
  case Conversion::ToFloat16:
    return convertAll<NarrowFloat16>(source, destination, count);
  case Conversion::ToBFloat16:
    return convertAll<NarrowBFloat16>(source, destination, count);
  }
}

using Loop = void (*)(Conversion way, const char *source, char *destination, size_t count);

ZERO_RT_TARGET("avx512f,avx512bw,avx512vl,avx512dq")
static void runAvx512(Conversion way, const char *source, char *destination, size_t count) {
  run(way, source, destination, count);
}

ZERO_RT_TARGET("avx2,f16c")
static void runAvx2(Conversion way, const char *source, char *destination, size_t count) {
  run(way, source, destination, count);
}

static void runPlain(Conversion way, const char *source, char *destination, size_t count) {
  run(way, source, destination, count);
}

static Loop loopOfThisMachine() {
  if (ZERO_RT_HAS("avx512f") && ZERO_RT_HAS("avx512bw") && ZERO_RT_HAS("avx512vl") &&
      ZERO_RT_HAS("avx512dq"))
    return runAvx512;
  return ZERO_RT_HAS("avx2") && ZERO_RT_HAS("f16c") ? runAvx2 : runPlain;
}

static void convert(Conversion way, const void *source, void *destination, size_t count) {
  static const Loop loop = loopOfThisMachine();
  loop(way, static_cast<const char *>(source), static_cast<char *>(destination), count);
}

void widenHalves(DType from, const void *source, float *destination, size_t count) {
  convert(from == ZERO_RT_F16 ? Conversion::FromFloat16 : Conversion::FromBFloat16, source,
          destination, count);
}

void narrowToHalves(DType to, const float *source, void *destination, size_t count) {
  convert(to == ZERO_RT_F16 ? Conversion::ToFloat16 : Conversion::ToBFloat16, source, destination,
          count);
}

} // namespace zero::rt
