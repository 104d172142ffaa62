//===- program.h - PTX as it is executed ------------------------*- C++ -*-===//
//
// A register is an array of the values of a warp's 32 threads; a predicate is 32 bits. All
// registers of a warp are in one piece of memory, and operands are offsets into it. Immediates and
// special registers are registers, too, which are set before the code runs.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PTX_PROGRAM_H
#define TEST_UNIT_GPU_PTX_PROGRAM_H

#include "text.h"

#include <array>
#include <functional>

namespace ptx {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kNoRegister = ~uint32_t(0);

class Warp;

struct Instruction {
  using Run = void (*)(Warp &, const Instruction &);
  /// What a warp does before the instruction and after it.
  enum class Flow : uint8_t {
    Next,    ///< goes on
    Jump,    ///< the instruction itself says where threads go on
    Meet,    ///< runs when the threads of the mask in register `c` have met here
    MeetAll, ///< a barrier of the block: all threads of the warp meet here, then all warps
  };

  Run run = nullptr;
  Flow flow = Flow::Next;
  Space space = Space::Generic;
  bool negated = false; ///< the guard
  bool nonCoherent = false;
  uint8_t count = 0;
  uint32_t guard = kNoRegister;
  uint32_t d = kNoRegister, a = 0, b = 0, c = 0;
  uint32_t predicate = kNoRegister; ///< a second result
  int64_t number = 0;               ///< an offset, or a number that selects a function
  std::array<uint32_t, 14> parts{}; ///< registers of vectors
};

struct Entry {
  /// A register with one value for all threads.
  struct Constant {
    uint32_t place, bytes;
    uint64_t bits;
  };

  std::string name;
  std::vector<Instruction> code;
  std::vector<std::vector<uint32_t>> targets; ///< of brx.idx
  std::vector<Statement> statements;          ///< of each instruction, for messages
  std::vector<Parameter> parameters;
  std::vector<Constant> constants;
  std::map<std::string, uint32_t> specials; ///< places of special registers
  uint32_t registerBytes = 0;
  uint64_t sharedBytes = 0, localBytes = 0;
  uint32_t mostThreads = 1024;
};

struct Program {
  std::map<std::string, Entry> entries;
};

/// Addresses of variables in global memory.
using Globals = std::map<std::string, uint64_t>;

/// Throws a TextError, which names the line and what is not implemented there.
Entry decode(const EntryText &text, const ModuleText &module, const Globals &globals);

/// Reads all of a module. `allocate` makes memory for a variable and returns its address.
Program load(std::string_view text, const std::function<uint64_t(const Variable &)> &allocate);

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_PROGRAM_H
