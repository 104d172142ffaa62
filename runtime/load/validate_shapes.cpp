//===- validate_shapes.cpp - validate the programs of shapes --------------===//

#include "runtime/load/validate_shapes.h"

#include "runtime/format/tables.h"
#include "runtime/load/bounds.h"

namespace zero::rt {

/// Whether two messages are equal after clear(message) of both.
template <typename Message, typename Clear>
static bool equalBut(Message one, Message other, Clear clear) {
  clear(one);
  clear(other);
  return one.SerializeAsString() == other.SerializeAsString();
}

static bool isSamePlace(const proto::Buffer &one, const proto::Buffer &other) {
  return equalBut(one, other, [](proto::Buffer &buffer) { buffer.clear_value(); });
}

/// The state of one program: constants of a shape left out.
static std::vector<const proto::Tensor *> stateOf(const proto::Program &program) {
  std::vector<const proto::Tensor *> state;
  for (const proto::Tensor &tensor : program.tensors())
    if (!isOfShape(tensor))
      state.push_back(&tensor);
  return state;
}

namespace {

/// Compares the program of another shape with the first one, both of which are valid.
class ShapeValidator {
public:
  ShapeValidator(const proto::Program &first, const proto::Program &shape)
      : first(first), shape(shape) {}

  Status run() {
    if (shape.shapes_size() > 0 || !hasSameRanks())
      return fail(ZERO_RT_BAD_FILE, "a program of another shape has other ranks or arenas");
    ZERO_RT_TRY(checkEach("input", first.inputs(), shape.inputs(), &ShapeValidator::isSameInput));
    ZERO_RT_TRY(
        checkEach("output", first.outputs(), shape.outputs(), &ShapeValidator::isSameOutput));
    ZERO_RT_TRY(checkState());
    return checkGradients();
  }

private:
  bool hasSameRanks() const {
    const auto aboutRanks = [](const proto::Program &program) {
      proto::Program kept;
      kept.set_ranks(program.ranks());
      kept.set_micro_batches(program.micro_batches());
      kept.set_threads(program.threads());
      kept.set_ranks_per_node(program.ranks_per_node());
      *kept.mutable_mesh() = program.mesh();
      *kept.mutable_data_axes() = program.data_axes();
      *kept.mutable_arenas() = program.arenas();
      return kept.SerializeAsString();
    };
    return aboutRanks(first) == aboutRanks(shape);
  }

  static bool isSameInput(const proto::Input &one, const proto::Input &other) {
    return equalBut(one, other, [](proto::Input &input) {
      input.clear_shape();
      input.clear_offset();
      input.clear_value();
    });
  }

  static bool isSameOutput(const proto::Output &one, const proto::Output &other) {
    return equalBut(one, other, [](proto::Output &output) {
      output.clear_offset();
      output.clear_value();
      output.clear_start();
    });
  }

  template <typename Messages, typename Same>
  Status checkEach(const char *what, const Messages &all, const Messages &others, Same isSame) {
    if (all.size() != others.size())
      return fail(ZERO_RT_BAD_FILE, "expected %d %ss in the program of another shape, got %d",
                  all.size(), what, others.size());
    for (int i = 0; i < all.size(); ++i)
      if (!isSame(all[i], others[i]))
        return badTable(what, all[i].name(), "it differs in the program of another shape");
    return {};
  }

  /// Whether a tensor of both is at the same places.
  bool isSameTensor(const proto::Tensor &one, const proto::Tensor &other) const {
    const bool isSame = equalBut(one, other, [](proto::Tensor &tensor) {
      tensor.clear_buffer();
      for (proto::Tile &tile : *tensor.mutable_tiles())
        tile.clear_buffer();
    });
    if (!isSame)
      return false;
    const std::vector<Block> mine = blocksOf(first, one), its = blocksOf(shape, other);
    return std::ranges::equal(mine, its, [](const Block &a, const Block &b) {
      return isSamePlace(*a.buffer, *b.buffer);
    });
  }

  Status checkState() {
    const auto all = stateOf(first), others = stateOf(shape);
    if (all.size() != others.size())
      return fail(ZERO_RT_BAD_FILE, "expected %zu tensors in the program of another shape, got %zu",
                  all.size(), others.size());
    for (size_t i = 0; i < all.size(); ++i)
      if (!isSameTensor(*all[i], *others[i]))
        return badTable("tensor", all[i]->name(),
                        "it differs in the program of another shape, or is at another place");
    return {};
  }

  /// Gradients are handed out by index, and by slices of ranks; each program has them where it
  /// wants.
  static bool isSameGradient(const proto::Gradient &one, const proto::Gradient &other) {
    return equalBut(one, other, [](proto::Gradient &gradient) {
      const auto clear = [](proto::Buffer &buffer) {
        buffer.clear_value();
        buffer.clear_offset();
        buffer.clear_rank_strides();
        buffer.clear_tier();
      };
      gradient.clear_scale();
      if (gradient.has_buffer())
        clear(*gradient.mutable_buffer());
      for (proto::Gradient::Tile &tile : *gradient.mutable_tiles())
        clear(*tile.mutable_buffer());
    });
  }

  Status checkGradients() {
    if (first.gradients_size() != shape.gradients_size())
      return fail(ZERO_RT_BAD_FILE, "expected %d gradients in the program of another shape, got %d",
                  first.gradients_size(), shape.gradients_size());
    for (int i = 0; i < first.gradients_size(); ++i)
      if (!isSameGradient(first.gradients(i), shape.gradients(i)))
        return badTable("gradient", first.gradients(i).parameter(),
                        "it differs in the program of another shape");
    return {};
  }

  const proto::Program &first, &shape;
};

} // namespace

Status validateShapes(const proto::Program &program) {
  for (const proto::Program &shape : program.shapes())
    ZERO_RT_TRY(ShapeValidator(program, shape).run());
  return {};
}

} // namespace zero::rt
