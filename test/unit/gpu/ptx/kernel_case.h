//===- kernel_case.h - run a few lines of PTX -------------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_PTX_KERNEL_CASE_H
#define TEST_UNIT_GPU_PTX_KERNEL_CASE_H

#include "launch.h"

#include <cstring>

/// An entry `k` with two parameters: in %l30, the address of 8 bytes for each of 64 threads of a
/// block, and in %l31 a number.
inline std::string entryOf(const std::string &code, const std::string &name = "k") {
  return ".visible .entry " + name +
         "(.param .u64 out, .param .u64 n)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<32>;\n.reg .b32 %r<32>;\n.reg .b64 %l<32>;\n"
         "ld.param.b64 %l30, [out];\nld.param.b64 %l31, [n];\n" +
         code + "\nret;\n}\n";
}

inline const char *const kHeader = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// Runs launches of one module on memory for its results.
class Machine {
public:
  explicit Machine(const std::string &text, uint64_t seed = 1) : random(seed) {
    program = ptx::load(kHeader + text, [&](const ptx::Variable &variable) {
      ptx::Region &made = memory.allocate(variable.bytes);
      std::memset(made.host.get(), 0, variable.bytes);
      std::memcpy(made.host.get(), variable.initial.data(), variable.initial.size());
      made.shadow.fill(0, variable.bytes);
      return made.address;
    });
  }

  void launch(ptx::Shape shape, uint64_t number = 0, uint64_t sharedBytes = 0) {
    std::vector<uint8_t> arguments(16);
    std::memcpy(arguments.data(), &out.address, 8);
    std::memcpy(arguments.data() + 8, &number, 8);
    ptx::run(program.entries.at("k"), shape, arguments, sharedBytes, memory, random);
  }
  template <typename T = uint64_t>
  T result(uint32_t index) const {
    T value;
    std::memcpy(&value, out.host.get() + index * sizeof(T), sizeof(T));
    return value;
  }

  ptx::DeviceMemory memory;
  ptx::Region &out = memory.allocate(64 * 8);
  ptx::Program program;
  std::mt19937_64 random;
};

#endif // TEST_UNIT_GPU_PTX_KERNEL_CASE_H
