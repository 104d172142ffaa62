//===- functions.cpp - roots, exponentials and their like -----------------===//
//
// Approximations of PTX differ between GPUs within documented bounds. Here they are the function's
// value in float64, rounded.
//
//===----------------------------------------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

struct Root {
  template <typename T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <typename T>
  static T apply(T a) {
    return T(1) / a;
  }
};
struct ReciprocalRoot {
  template <typename T>
  static T apply(T a) {
    return T(1 / std::sqrt(double(a)));
  }
};
struct Exponential {
  template <typename T>
  static T apply(T a) {
    return T(std::exp2(double(a)));
  }
};
struct Logarithm {
  template <typename T>
  static T apply(T a) {
    return T(std::log2(double(a)));
  }
};
struct Sine {
  template <typename T>
  static T apply(T a) {
    return T(std::sin(double(a)));
  }
};
struct Cosine {
  template <typename T>
  static T apply(T a) {
    return T(std::cos(double(a)));
  }
};
struct HyperbolicTangent {
  template <typename T>
  static T apply(T a) {
    return T(std::tanh(double(a)));
  }
};

/// Subnormal arguments and results are zeros with their sign.
template <typename Op>
struct Flushed {
  static float flush(float a) {
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
  }
  static float apply(float a) { return flush(Op::apply(flush(a))); }
};

template <typename Op>
void decodeApproximation(Decoding &decoding) {
  const bool flushes = decoding.take("ftz");
  decoding.require("approx");
  decoding.require("f32");
  decoding.setRun(flushes ? unary<float, Flushed<Op>> : unary<float, Op>);
  decoding.setOperands(Type::F32, Type::F32, 1);
}

/// Functions that are rounded, or approximations of float32.
template <typename Op>
void decodeRounded(Decoding &decoding) {
  if (!decoding.take("rn"))
    return decodeApproximation<Op>(decoding);
  const Type type = decoding.takeType();
  decoding.setRun(chooseUnary<Op, float, double>(type));
  decoding.setOperands(type, type, 1);
}

/// b with the sign of a.
struct CopySign {
  template <typename T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

void decodeCopySign(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(chooseBinary<CopySign, float, double>(type));
  decoding.setOperands(type, type, 2);
}

} // namespace

void addFunctions(Opcodes &opcodes) {
  opcodes["sqrt"] = decodeRounded<Root>;
  opcodes["rcp"] = decodeRounded<Reciprocal>;
  opcodes["rsqrt"] = decodeApproximation<ReciprocalRoot>;
  opcodes["ex2"] = decodeApproximation<Exponential>;
  opcodes["lg2"] = decodeApproximation<Logarithm>;
  opcodes["sin"] = decodeApproximation<Sine>;
  opcodes["cos"] = decodeApproximation<Cosine>;
  opcodes["tanh"] = decodeApproximation<HyperbolicTangent>;
  opcodes["copysign"] = decodeCopySign;
}

} // namespace ptx
