//===- parts.h - pieces of programs made by hand ----------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_PARTS_H
#define TEST_UNIT_RUNTIME_PARTS_H

#include "runtime/device/cpu/library.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>

namespace zero::rt {

using Segment = proto::Segment;

/// Gives `program` a mesh of one axis.
inline void setRanks(proto::Program &program, int ranks) {
  program.set_ranks(uint32_t(ranks));
  program.clear_mesh();
  program.add_mesh()->set_name("data");
  program.mutable_mesh(0)->set_size(uint32_t(ranks));
  program.clear_data_axes();
  program.add_data_axes(0);
}

inline proto::Address address(uint64_t offset, int64_t stride = 0) {
  proto::Address result;
  result.set_offset(offset);
  if (stride != 0)
    result.add_rank_strides(stride);
  return result;
}

/// Adds a product and increases `space` to the size of its workspace. `stored` is as in Kernel.
inline void addMatmul(proto::Program &program, const char *name, proto::Matmul product,
                      uint64_t &space, std::initializer_list<proto::DType> stored = {}) {
  uint64_t bytes = 0;
  product.set_dtype(proto::F32);
  product.set_alpha(1);
  auto *kernel = program.add_kernels();
  kernel->set_name(name);
  *kernel->mutable_matmul() = product;
  for (proto::DType dtype : stored)
    kernel->add_stored(dtype);
  EXPECT_EQ(zero_rt_library_workspace(*kernel, bytes), "");
  kernel->set_workspace(bytes);
  space = std::max(space, bytes);
}

/// A function of kernels.c. For one over a length: the bytes of each argument per element.
struct HandMade {
  const char *symbol;
  std::vector<uint64_t> perLength = {}; ///< bytes
};

inline void addKernels(proto::Program &program, std::initializer_list<HandMade> kernels) {
  for (const HandMade &made : kernels) {
    auto *kernel = program.add_kernels();
    kernel->set_name(made.symbol);
    kernel->set_symbol(made.symbol);
    kernel->mutable_per_length()->Assign(made.perLength.begin(), made.perLength.end());
  }
}

/// Allocates consecutive places in an arena.
struct Places {
  uint64_t end = 0;
  std::map<uint64_t, uint64_t> bytes; ///< by offset

  uint64_t operator()(uint64_t size) {
    uint64_t offset = end;
    bytes[offset] = size;
    end += (size + 63) / 64 * 64;
    return offset;
  }
};

inline proto::Matmul product(std::array<uint64_t, 3> mnk, std::array<int64_t, 6> strides) {
  proto::Matmul result;
  result.set_m(mnk[0]), result.set_n(mnk[1]), result.set_k(mnk[2]);
  for (int i = 0; i < 2; ++i) {
    result.add_a_strides(strides[i]);
    result.add_b_strides(strides[2 + i]);
    result.add_c_strides(strides[4 + i]);
  }
  return result;
}

inline proto::Command &launch(Segment &segment, int kernel, std::initializer_list<uint64_t> args,
                              int64_t length = 0) {
  proto::Command &command = *segment.add_commands();
  command.set_label("kernel " + std::to_string(kernel));
  command.mutable_launch()->set_kernel(kernel);
  command.mutable_launch()->set_length(length);
  for (uint64_t arg : args)
    *command.mutable_launch()->add_args() = address(arg);
  return command;
}

/// Removes the workspace, the last argument, from products that need none. The need of the library
/// depends on the processor.
inline void dropUnusedWorkspaces(proto::Program &program) {
  for (proto::Segment &segment : *program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands()) {
      if (!command.has_launch())
        continue;
      const proto::Kernel &kernel = program.kernels(int(command.launch().kernel()));
      if (kernel.has_matmul() && kernel.workspace() == 0)
        command.mutable_launch()->mutable_args()->RemoveLast();
    }
}

inline proto::Collective &collective(Segment &segment, const char *label,
                                     proto::Collective::Kind kind, uint64_t elements) {
  proto::Command &command = *segment.add_commands();
  command.set_label(label);
  command.set_lane(proto::COLLECTIVE);
  command.mutable_collective()->set_kind(kind);
  command.mutable_collective()->set_dtype(proto::F32);
  command.mutable_collective()->set_elements(elements);
  return *command.mutable_collective();
}

inline void addInput(proto::Program &program, const char *name, proto::DType dtype,
                     std::initializer_list<uint64_t> shape, uint64_t offset) {
  auto *input = program.add_inputs();
  input->set_name(name);
  input->set_dtype(dtype);
  input->set_offset(offset);
  for (uint64_t dim : shape)
    input->add_shape(dim);
}

inline void addOutput(proto::Program &program, const char *name, proto::DType dtype,
                      uint64_t offset) {
  auto *output = program.add_outputs();
  output->set_name(name);
  output->set_dtype(dtype);
  output->set_offset(offset);
}

/// A rank's part of a bucket.
struct Home {
  uint64_t elements;
  uint32_t shards;
  uint64_t offset;
};

/// Adds a tensor in a separate buffer.
inline proto::Tensor *addTensor(proto::Program &program, const char *name, proto::Role role,
                                proto::DType dtype, Home home,
                                std::initializer_list<uint64_t> shape) {
  auto *tensor = program.add_tensors();
  tensor->set_buffer(program.buffers_size());
  tensor->set_name(name);
  tensor->set_role(role);
  tensor->set_dtype(dtype);
  for (uint64_t dim : shape)
    tensor->add_shape(dim);
  auto *buffer = program.add_buffers();
  buffer->set_name(std::string(name) + ".buffer");
  buffer->set_role(role);
  buffer->set_dtype(dtype);
  buffer->set_elements(home.elements);
  buffer->set_shards(home.shards);
  if (home.shards > 1)
    buffer->add_shard_axes(0);
  buffer->set_offset(home.offset);
  return tensor;
}

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_PARTS_H
