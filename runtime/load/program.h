//===- program.h - an executable in memory ----------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_PROGRAM_H
#define RUNTIME_LOAD_PROGRAM_H

#include "runtime/device/cpu/module.h"
#include "runtime/format/format.h"
#include "runtime/format/tables.h"
#include "runtime/io/data_set.h"
#include "runtime/support/half.h"

#include <map>

namespace zero::rt {

/// Bytes moved from and to a disk.
struct DiskTraffic {
  uint64_t read = 0, written = 0;
};

/// A checked .zexe and its code. Sessions share it.
struct LoadedProgram {
  Executable executable;
  std::shared_ptr<Module> module; ///< the kernels that cores of the host run

  /// Maps the name of a parameter to the tensor with its value in f32.
  std::map<std::string_view, const proto::Tensor *> masters;

  /// Parameters by name.
  std::map<std::string_view, const proto::Tensor *> parameters;

  const proto::Program &tables() const { return executable.program; }
  /// The program of a shape; 0 is tables().
  const proto::Program &tablesOf(size_t shape) const { return programOf(tables(), shape); }
  size_t shapes() const { return countShapes(tables()); }
  int ranks() const { return static_cast<int>(tables().ranks()); }
  Mesh mesh() const { return meshOf(tables()); }
  /// The tensor that has the value of `tensor` for users: its master, or itself.
  const proto::Tensor &valueOf(const proto::Tensor &tensor) const;
  /// The parameter of `gradient`.
  const proto::Tensor &parameterOf(const proto::Gradient &gradient) const;
};

/// The initializer of `tensor` in the model, or empty if it has no separate one.
inline const std::string &initializerOf(const proto::Tensor &tensor) {
  const bool isNamed =
      tensor.has_initializer() || tensor.init().has_splat() || tensor.init().required();
  return isNamed ? tensor.initializer() : tensor.name();
}

/// The type of the values in a file with which `tensor` begins; ZERO_RT_NO_DTYPE if it begins with
/// others.
inline DType fileTypeOf(const proto::Tensor &tensor) {
  return tensor.init().has_file() ? storedType(tensor.init().file(), toDType(tensor.dtype()))
                                  : ZERO_RT_NO_DTYPE;
}

/// How the arguments of a launch of `kernel`, which validate() has passed, are stored, without the
/// workspace. Empty: it does not say.
std::vector<DType> argumentTypes(const proto::Kernel &kernel);

/// Reads, checks and loads `path`.
Status loadProgram(const std::string &path, std::shared_ptr<const LoadedProgram> &program);

/// The place of a gradient, or of its first tile.
inline const proto::Buffer &gradientBuffer(const proto::Gradient &gradient) {
  return gradient.tiles_size() > 0 ? gradient.tiles(0).buffer() : gradient.buffer();
}

/// The type in which a gradient is returned: 16-bit floats as float32.
inline DType gradientType(const proto::Gradient &gradient) {
  const DType dtype = toDType(gradientBuffer(gradient).dtype());
  return isHalf(dtype) ? ZERO_RT_F32 : dtype;
}

/// A data set for the inputs of kind DATA of all shapes, still without data.
std::shared_ptr<DataSet> makeDataSet(const proto::Program &program);

/// Threads of a rank that memory was planned for, or, without a plan, the usable cores divided by
/// the ranks, at least 1.
int defaultThreads(const proto::Program &program, int ranks);

/// The inputs that users bind with their shapes: "input_ids=4x256,labels=4x256".
std::string shapeName(const proto::Program &program);

/// Commands that are listed, over all segments.
size_t countCommands(const proto::Program &program);

/// Commands that a step executes if none is skipped: those of a segment in each of its iterations.
uint64_t commandsPerStep(const proto::Program &program);

/// The device of a program: "cpu" or "cuda".
inline const char *deviceOf(const proto::Program &program) {
  return program.target() == proto::CUDA ? "cuda" : "cpu";
}

/// Bytes that each rank moves from and to its disk in a step, if it skips nothing.
DiskTraffic diskTraffic(const proto::Program &program);

/// Bytes of `tier` on each rank.
uint64_t arenaBytes(const proto::Program &program, proto::Tier tier);

} // namespace zero::rt

#endif // RUNTIME_LOAD_PROGRAM_H
