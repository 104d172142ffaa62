//===- reach_test.cpp - kernels that would exceed the arena ---------------===//

#include "parts.h"
#include "trial.h"

using namespace zero::rt;

namespace {

/// A program that ends with one more library kernel. The arguments of this kernel are stored after
/// the others without gaps, followed by the workspace and the end of the arena.
struct ReachingProgram : TinyProgram {
  proto::Kernel *kernel;
  proto::Launch *launch;

  /// `sizes`: bytes of the arguments, without the workspace.
  ReachingProgram(const proto::Kernel &described, std::initializer_list<uint64_t> sizes)
      : TinyProgram(1), kernel(program.add_kernels()) {
    *kernel = described;
    kernel->set_name("last");
    uint64_t workspace = 0, end = at.end;
    EXPECT_EQ(zero_rt_library_workspace(*kernel, workspace), "");
    kernel->set_workspace(workspace);
    proto::Command &command = *segment(1).add_commands();
    command.set_label("last");
    launch = command.mutable_launch();
    launch->set_kernel(uint32_t(program.kernels_size() - 1));
    auto add = [&](uint64_t bytes) {
      proto::Address *argument = launch->add_args();
      argument->set_offset(end);
      argument->set_bytes(bytes);
      argument->set_writes(uint32_t(end)); // the contents that it reads do not matter
      end += bytes;
    };
    for (uint64_t bytes : sizes)
      add(bytes);
    if (workspace > 0)
      add(workspace);
    program.mutable_arenas(0)->set_bytes(end);
  }

  void shrinkArena(uint64_t by) {
    program.mutable_arenas(0)->set_bytes(program.arenas(0).bytes() - by);
  }
};

/// An attention of one head, 4 queries and keys.
ReachingProgram attending() {
  proto::Kernel kernel;
  proto::Attention &attention = *kernel.mutable_attention();
  attention.set_dtype(proto::F32);
  attention.set_batch(1), attention.set_heads(1), attention.set_groups(1);
  attention.set_queries(4), attention.set_keys(4);
  attention.set_width(16), attention.set_value_width(16);
  for (int64_t stride : {64, 64, 16})
    for (auto *strides : {attention.mutable_q_strides(), attention.mutable_k_strides(),
                          attention.mutable_v_strides(), attention.mutable_o_strides()})
      strides->Add(stride);
  return {kernel, {256, 256, 256, 256, 16}};
}

/// C[8, 16] = A[8, 4] B[4, 16] + bias, where B is bf16 and A has every second row of a larger
/// matrix.
ReachingProgram multiplying() {
  proto::Kernel kernel;
  proto::Matmul &matmul = *kernel.mutable_matmul();
  matmul = product({8, 16, 4}, {8, 1, 16, 1, 16, 1});
  matmul.set_dtype(proto::F32);
  matmul.set_alpha(1);
  matmul.set_bias(true);
  for (proto::DType dtype : {proto::F32, proto::BF16, proto::F32, proto::F32})
    kernel.add_stored(dtype);
  return {kernel, {(7 * 8 + 4) * 4, 4 * 16 * 2, 16 * 4, 8 * 16 * 4}};
}

/// y[2, 4, 6, 6] of x[2, 3, 8, 8] and w[4, 3, 3, 3].
ReachingProgram convolving(proto::Convolution::Direction direction) {
  proto::Kernel kernel;
  proto::Convolution &convolution = *kernel.mutable_convolution();
  convolution.set_dtype(proto::F32);
  convolution.set_direction(direction);
  convolution.set_batch(2), convolution.set_groups(1);
  convolution.set_in_channels(3), convolution.set_out_channels(4);
  for (int dim = 0; dim < 2; ++dim) {
    convolution.add_input(8), convolution.add_output(6), convolution.add_kernel(3);
    convolution.add_strides(1), convolution.add_dilations(1);
    convolution.add_pads_begin(0), convolution.add_pads_end(0);
  }
  const uint64_t x = 2 * 3 * 64 * 4, w = 4 * 3 * 9 * 4, y = 2 * 4 * 36 * 4;
  if (direction == proto::Convolution::BACKWARD_DATA)
    return {kernel, {y, w, x}};
  if (direction == proto::Convolution::BACKWARD_WEIGHTS)
    return {kernel, {y, x, w}};
  convolution.set_bias(true);
  return {kernel, {x, w, 16, y}};
}

template <typename Edit>
void expectBad(ReachingProgram program, Edit edit, const std::string &part) {
  edit(program);
  expectRefused(program, ZERO_RT_BAD_FILE, part);
}

/// The program runs unchanged with guards. No argument may be moved to the end of the arena, be
/// declared shorter than it is or longer than the arena, or be missing.
void expectChecked(ReachingProgram (*make)()) {
  Trial trial(make());
  trial.options.check_memory = 1;
  trial.start();
  trial.bind(2);
  EXPECT_OK(trial.step());
  const std::string outside = "command 'last': an address lies outside the arena";
  expectBad(make(), [](auto &p) { p.shrinkArena(1); }, outside);
  for (int i = 0; i < make().launch->args_size(); ++i) {
    auto change = [&](auto edit, const std::string &part) {
      expectBad(make(), [&](auto &p) { edit(p, *p.launch->mutable_args(i)); }, part);
    };
    change([](auto &p, auto &a) { a.set_offset(p.program.arenas(0).bytes() - a.bytes() + 1); },
           outside);
    change([](auto &, auto &a) { a.set_offset(UINT64_MAX - 7); }, outside);
    change([](auto &, auto &a) { a.set_bytes(UINT64_MAX); }, outside);
    change([](auto &, auto &a) { a.set_bytes(a.bytes() - 1); },
           "command 'last': its kernel reaches over");
  }
  expectBad(
      make(), [](auto &p) { p.launch->mutable_args()->RemoveLast(); },
      "command 'last': wrong number of arguments for its kernel");
  expectBad(
      make(), [](auto &p) { *p.launch->add_args() = p.launch->args(0); },
      "command 'last': wrong number of arguments for its kernel");
  expectBad(make(), [](auto &p) { p.kernel->set_workspace(uint64_t(1) << 40); }, "command 'last'");
  expectBad(make(), [](auto &p) { p.kernel->add_stored(proto::I64); }, "kernel 'last': ");
}

TEST(Reach, Attention) {
  expectChecked(attending);
  auto change = [](auto edit, const char *part) {
    expectBad(attending(), [&](auto &p) { edit(*p.kernel->mutable_attention()); }, part);
  };
  change([](auto &a) { a.set_q_strides(2, 1 << 20); }, "command 'last': its kernel reaches over");
  change([](auto &a) { a.set_keys(1 << 20); }, "command 'last': its kernel reaches over");
  change([](auto &a) { a.set_v_strides(2, INT64_MAX); },
         "kernel 'last': an attention: the strides of V overflow");
  change([](auto &a) { a.set_groups(0); },
         "kernel 'last': an attention: 0 heads of keys for 1 heads");
}

TEST(Reach, Matmul) {
  expectChecked(multiplying);
  auto change = [](auto edit, const char *part) {
    expectBad(multiplying(), [&](auto &p) { edit(*p.kernel->mutable_matmul()); }, part);
  };
  const char *further = "command 'last': its kernel reaches over";
  change([](auto &m) { m.set_a_strides(0, 9); }, further);
  change([](auto &m) { m.set_a_strides(1, 2); }, further);
  change([](auto &m) { m.set_b_strides(0, 17); }, further);
  change([](auto &m) { m.set_c_strides(0, 1 << 20); }, further);
  change([](auto &m) { m.set_m(9); }, further);
  change([](auto &m) { m.set_n(17); }, further);
  change([](auto &m) { m.set_k(1 << 20); }, further);
  auto batched = [](proto::Matmul &m, uint64_t count, int64_t stride) {
    m.add_batch(count);
    for (auto *strides : {m.mutable_a_strides(), m.mutable_b_strides(), m.mutable_c_strides()}) {
      std::vector<int64_t> old(strides->begin(), strides->end());
      strides->Clear();
      strides->Add(stride);
      strides->Add(old.begin(), old.end());
    }
  };
  change([&](auto &m) { batched(m, 2, 1 << 16); }, further);
  change([&](auto &m) { batched(m, uint64_t(1) << 40, 1 << 16); }, "kernel 'last': ");
  change([&](auto &m) { batched(m, 2, INT64_MAX); },
         "kernel 'last': a matrix product: the strides");
  change([](auto &m) { m.set_b_strides(0, -16); }, "kernel 'last': a matrix product: expected");
  change([](auto &m) { m.set_c_strides(0, INT64_MAX); },
         "kernel 'last': a matrix product: the strides of C overflow");
  change([](auto &m) { m.set_m(UINT64_MAX); },
         "kernel 'last': a matrix product: expected at most 1073741824 rows");
  change([](auto &m) { m.add_c_strides(1); },
         "kernel 'last': a matrix product: expected 2 strides");
  change([](auto &m) { m.set_residual(true); }, "kernel 'last': expected the types of 5 arguments");
}

TEST(Reach, Convolution) {
  using proto::Convolution;
  expectChecked([] { return convolving(Convolution::FORWARD); });
  expectChecked([] { return convolving(Convolution::BACKWARD_DATA); });
  expectChecked([] { return convolving(Convolution::BACKWARD_WEIGHTS); });
  auto change = [](auto edit, const char *part) {
    for (auto direction :
         {Convolution::FORWARD, Convolution::BACKWARD_DATA, Convolution::BACKWARD_WEIGHTS})
      expectBad(
          convolving(direction), [&](auto &p) { edit(*p.kernel->mutable_convolution()); }, part);
  };
  const char *further = "command 'last': its kernel reaches over";
  change([](auto &c) { c.set_batch(3); }, further);
  change([](auto &c) { c.set_in_channels(4); }, further);
  change([](auto &c) { c.set_out_channels(1 << 20); }, further);
  change([](auto &c) { c.set_input(0, 9); }, further);
  change([](auto &c) { c.set_output(1, 7), c.set_pads_end(1, 1); }, further);
  change([](auto &c) { c.set_input(0, uint64_t(1) << 40); }, "kernel 'last': a convolution");
}

TEST(Reach, NativeCodeLiesWhereItSays) {
  auto change = [](auto edit, const char *part) {
    TinyProgram tiny(2);
    edit(tiny, *tiny.segment(1).mutable_commands(0)->mutable_launch());
    expectRefused(tiny, ZERO_RT_BAD_FILE, part);
  };
  const char *outside = "an address lies outside the arena";
  for (int i = 0; i < 3; ++i) {
    change([i](auto &, auto &launch) { launch.mutable_args(i)->set_bytes(1 << 20); }, outside);
    change([i](auto &t, auto &launch) { launch.mutable_args(i)->set_offset(t.at.end - 3); },
           outside);
  }
  // Only on the last rank.
  change(
      [](auto &t, auto &launch) { launch.mutable_args(1)->set_rank_strides(0, int64_t(t.at.end)); },
      outside);
  change([](auto &t, auto &) { t.program.mutable_kernels(3)->set_workspace(1 << 20); },
         "its kernel reaches over 1048576 bytes of argument 2");
  change([](auto &t, auto &) { t.program.mutable_kernels(3)->add_stored(proto::DType(99)); },
         "an argument of an unknown type");
  change(
      [](auto &t, auto &launch) {
        for (int i = 0; i <= launch.args_size(); ++i)
          t.program.mutable_kernels(3)->add_stored(proto::F32);
      },
      "wrong number of arguments for its kernel");
}

TEST(Reach, Renames) {
  auto change = [](auto edit) {
    TinyProgram tiny(2);
    proto::Rename &rename = *tiny.segment(0).add_renames();
    rename.mutable_place()->set_bytes(16);
    edit(tiny, rename);
    expectRefused(tiny, ZERO_RT_BAD_FILE, "rename");
  };
  change([](auto &, auto &rename) { rename.set_command(100); });
  change([](auto &, auto &rename) { rename.set_predicate(1); });
  change([](auto &, auto &rename) { rename.mutable_place()->set_bytes(1 << 20); });
  change([](auto &t, auto &rename) {
    rename.set_command(2);
    t.segment(0).add_renames();
  });
}

} // namespace
