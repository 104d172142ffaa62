//===- lanes.h - operations on all threads of a warp ------------*- C++ -*-===//
//
// An operation is a struct with a function `apply` of one thread's values. Operations on 16-bit
// floats are computed in float32 and rounded, which gives the rounded result of each operation.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PTX_LANES_H
#define TEST_UNIT_GPU_PTX_LANES_H

#include "decode.h"
#include "warp.h"

namespace ptx {

template <typename T, typename Op, typename... Args>
T applied(Args... args) {
  if constexpr (std::is_same_v<T, HalfPair>)
    return {applied<Half, Op>(args.low...), applied<Half, Op>(args.high...)};
  else
    return canonical(T(Op::apply(static_cast<Wide<T>>(args)...)));
}

template <typename T, typename Op>
void unary(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = applied<T, Op>(a[lane]);
  warp.set(instruction.d, values);
}

template <typename T, typename Op>
void binary(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = applied<T, Op>(a[lane], b[lane]);
  warp.set(instruction.d, values);
}

/// d = Op(a, b, c), with other types of result and of c.
template <typename D, typename T, typename C, typename Op>
void ternary(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);
  const C *c = warp.at<C>(instruction.c);
  D values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = Op::apply(a[lane], b[lane], c[lane]);
  warp.set(instruction.d, values);
}

/// The function for that one of the types Ts that holds `type`; nullptr: none does.
template <typename Op, typename... Ts>
Instruction::Run chooseUnary(Type type) {
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = unary<Ts, Op>) : void()), ...);
  return run;
}
template <typename Op, typename... Ts>
Instruction::Run chooseBinary(Type type) {
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = binary<Ts, Op>) : void()), ...);
  return run;
}

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_LANES_H
