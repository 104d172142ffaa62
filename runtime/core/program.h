//===- program.h - an executable in memory ----------------------*- C++ -*-===//

#ifndef RUNTIME_CORE_PROGRAM_H
#define RUNTIME_CORE_PROGRAM_H

#include "runtime/device/cpu/module.h"
#include "runtime/format/format.h"
#include "runtime/io/data_set.h"
#include "runtime/support/half.h"

#include <algorithm>
#include <map>

namespace zero::rt {

/// A checked .zexe and its code. Sessions share it.
struct LoadedProgram {
  Executable executable;
  std::shared_ptr<Module> module;

  /// By the name of a parameter, the tensor that holds its value in f32.
  std::map<std::string_view, const proto::Tensor *> masters;

  const proto::Program &tables() const { return executable.program; }
  int ranks() const { return static_cast<int>(tables().ranks()); }
  /// Where people find the value of `tensor`: its master, or itself.
  const proto::Tensor &valueOf(const proto::Tensor &tensor) const;
};

/// Reads, checks and loads `path`.
Status loadProgram(const std::string &path, std::shared_ptr<const LoadedProgram> &program);

/// The tables' numbers are those of the C interface.
/// A number that is none of them, as damaged tables may hold, becomes no type.
inline DType toDType(proto::DType dtype) {
  return proto::DType_IsValid(dtype) ? static_cast<DType>(dtype) : ZERO_RT_NO_DTYPE;
}

/// The element type of initial values that a tensor of `dtype` is read from.
inline DType storedType(const proto::Init::Range &range, DType dtype) {
  return range.stored() == proto::DTYPE_UNSPECIFIED ? dtype : toDType(range.stored());
}

/// What a gradient is handed out as: 16-bit floats as float32.
inline DType gradientType(const proto::Gradient &gradient) {
  const DType dtype = toDType(gradient.buffer().dtype());
  return isHalf(dtype) ? ZERO_RT_F32 : dtype;
}

inline std::span<const uint64_t> shapeOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  return {shape.data(), static_cast<size_t>(shape.size())};
}

/// Elements of a shape that validate() has passed.
uint64_t elementsOf(const google::protobuf::RepeatedField<uint64_t> &shape);

/// Micro-batches of a step, at least 1.
inline uint64_t microBatchesOf(const proto::Program &program) {
  return std::max<uint64_t>(1, program.micro_batches());
}

/// A data set for the inputs of kind DATA, still without data.
std::shared_ptr<DataSet> makeDataSet(const proto::Program &program);

/// Bytes of the device tier on each rank.
uint64_t deviceBytes(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_CORE_PROGRAM_H
