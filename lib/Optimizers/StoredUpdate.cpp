//===- StoredUpdate.cpp - updates of states that are not f32 --------------===//
//
// Arguments of the kernel: parameter, f32 master of a 16-bit parameter unless that is rounded at
// random, for each state its f32 or bf16 values or its codes and the scales of its blocks,
// gradient, scalars, and for random numbers that of the step. A row is a block of elements: [?,
// block], or with codes of 4 bits [?, 2, block / 2], where byte i of a row has element i in its low
// and element block / 2 + i in its high half. A kernel of directions has no parameter and no
// master; its last result is the direction.
//
// A row is advanced by the optimizer's rules in f32, then the largest magnitude of each state
// becomes its scale, then the state is encoded. The loops over rows are fused, so that a row of f32
// values is all that the kernel needs beside its arguments.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

#include "zero/Stored/Codec.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

namespace {

class StoredUpdateBuilder {
public:
  StoredUpdateBuilder(ModuleOp module, const Optimizer &optimizer, const UpdateForm &form,
                      bool givesDirection)
      : module(module), optimizer(optimizer), form(form), givesDirection(givesDirection),
        context(module.getContext()), f32(Float32Type::get(context)) {
    if (givesDirection)
      this->form.keepsMaster = this->form.roundsAtRandom = false;
    if (this->form.states.empty())
      this->form.states.resize(optimizer.states().size());
    for (const StateForm &state : this->form.states)
      if (state.hasCodes())
        block = state.block;
    hasHalves = llvm::any_of(this->form.states, [](const StateForm &s) { return s.bits == 4; });
  }

  func::FuncOp build(StringRef name);

private:
  /// A state among the arguments of the kernel.
  struct State {
    const StateForm &form;
    Value values;        ///< or codes
    Value scales, table; ///< of codes
  };

  RankedTensorType rows(Type element) const {
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    if (hasHalves)
      shape.append({2, block / 2});
    else if (block > 1)
      shape.push_back(block);
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType perRow(Type element) const {
    return RankedTensorType::get({ShapedType::kDynamic}, element);
  }
  unsigned rank() const { return rows(f32).getRank(); }

  void appendTypes(const StateForm &state, SmallVectorImpl<Type> &types) const;
  SmallVector<Type> argumentTypes() const;
  AffineMap mapOf(Value operand) const;
  Value empty(RankedTensorType type);
  linalg::GenericOp
  loop(ValueRange ins, ValueRange outs,
       function_ref<void(OpBuilder &, ValueRange, SmallVectorImpl<Value> &)> body);
  Value decode(OpBuilder &b, const State &state, Value code, Value scale) const;
  Value randomBits(OpBuilder &b, Value gradient, Value step) const;
  void applyRules(OpBuilder &b, Value parameter, ValueRange operands,
                  SmallVectorImpl<Value> &results) const;
  SmallVector<Value> advance();
  Value scalesOf(Value values);
  Value inverseOf(Value scales);
  Value encode(const State &state, Value values, Value scales);

  ModuleOp module;
  const Optimizer &optimizer;
  UpdateForm form;
  bool givesDirection;
  MLIRContext *context;
  Type f32;
  int64_t block = 1;
  bool hasHalves;

  OpBuilder builder{context};
  Location loc = module.getLoc();
  Value parameter, master, gradient; ///< those that the kernel has
  Value counted;                     ///< has one row for each
  SmallVector<State> states;
  ValueRange scalars;
};

} // namespace

void StoredUpdateBuilder::appendTypes(const StateForm &state, SmallVectorImpl<Type> &types) const {
  Builder b(context);
  if (!state.hasCodes()) {
    types.push_back(rows(state.bits == 16 ? Type(b.getBF16Type()) : f32));
    return;
  }
  types.push_back(state.bits == 4
                      ? RankedTensorType::get({ShapedType::kDynamic, block / 2}, b.getI8Type())
                      : rows(b.getI8Type()));
  types.push_back(perRow(f32));
}

/// The index map of `operand` in a loop over rows: codes of 4 bits have both halves of a row in
/// one.
AffineMap StoredUpdateBuilder::mapOf(Value operand) const {
  const unsigned own = cast<RankedTensorType>(operand.getType()).getRank();
  if (!hasHalves || own != 2)
    return broadcastLast(operand, rank());
  return AffineMap::get(rank(), 0, {getAffineDimExpr(0, context), getAffineDimExpr(2, context)},
                        context);
}

/// A tensor of `type` with as many rows as the arguments.
Value StoredUpdateBuilder::empty(RankedTensorType type) {
  Value count = tensor::DimOp::create(builder, loc, counted, 0);
  return tensor::EmptyOp::create(builder, loc, type, count);
}

linalg::GenericOp StoredUpdateBuilder::loop(
    ValueRange ins, ValueRange outs,
    function_ref<void(OpBuilder &, ValueRange, SmallVectorImpl<Value> &)> body) {
  SmallVector<AffineMap> maps;
  for (ValueRange operands : {ins, outs})
    for (Value operand : operands)
      maps.push_back(mapOf(operand));
  SmallVector<utils::IteratorType> loops(rank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, outs.getTypes(), ins, outs, maps, loops,
                                   [&](OpBuilder &b, Location l, ValueRange values) {
                                     SmallVector<Value> results;
                                     body(b, values, results);
                                     linalg::YieldOp::create(b, l, results);
                                   });
}

Value StoredUpdateBuilder::decode(OpBuilder &b, const State &state, Value code, Value scale) const {
  code = state.form.bits == 4 ? stored::codeOfHalf(b, loc, code, linalg::IndexOp::create(b, loc, 1))
                              : arith::ExtUIOp::create(b, loc, b.getI32Type(), code).getResult();
  return stored::decode(b, loc, state.table, code, scale);
}

/// Bits from those of the gradient of an element and the number of the step. They do not depend on
/// where the element is, so neither does what is rounded by them.
Value StoredUpdateBuilder::randomBits(OpBuilder &b, Value gradient, Value step) const {
  Type i32 = b.getI32Type();
  auto seed = module->getAttrOfType<IntegerAttr>(kSeedAttr);
  Value own = arith::BitcastOp::create(b, loc, i32, gradient);
  Value number = stored::bitsOfStep(b, loc, step, seed ? seed.getInt() : 0);
  return stored::mixBits(b, loc, arith::XOrIOp::create(b, loc, own, number));
}

/// Appends the next parameter, or the direction, and the next states.
void StoredUpdateBuilder::applyRules(OpBuilder &b, Value parameter, ValueRange operands,
                                     SmallVectorImpl<Value> &results) const {
  if (givesDirection) {
    optimizer.buildMatrixDirection(b, loc, operands, results);
    std::rotate(results.begin(), std::prev(results.end()), results.end());
    return;
  }
  SmallVector<Value> all{parameter};
  llvm::append_range(all, operands);
  optimizer.buildUpdate(b, loc, all, results);
}

/// The next parameter, or the direction, then the master and the states, these in f32 if they have
/// codes.
SmallVector<Value> StoredUpdateBuilder::advance() {
  SmallVector<Value> ins, outs{givesDirection ? empty(rows(f32)) : parameter};
  if (master)
    outs.push_back(master);
  for (State &state : states) {
    if (state.form.hasCodes()) {
      ins.append({state.values, state.scales});
      outs.push_back(empty(rows(f32)));
    } else {
      outs.push_back(state.values);
    }
  }
  ins.push_back(gradient);
  llvm::append_range(ins, scalars);
  auto body = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &results) {
    Formula f(b, loc);
    ValueRange in = values.take_front(ins.size()), out = values.drop_front(ins.size());
    SmallVector<Value> operands;
    Value weight = givesDirection ? Value() : f.cast(out[master ? 1 : 0], f32);
    out = out.drop_front(master ? 2 : 1);
    for (const State &state : states) {
      if (state.form.hasCodes()) {
        operands.push_back(decode(b, state, in[0], in[1]));
        in = in.drop_front(2);
      } else {
        operands.push_back(f.cast(out.front(), f32));
      }
      out = out.drop_front();
    }
    Value change = f.cast(in[0], f32);
    operands.push_back(form.scaled ? f.mul(change, in[1]) : change);
    llvm::append_range(operands, in.drop_front(1 + form.scaled).drop_back(form.roundsAtRandom));
    applyRules(b, weight, operands, results);
    for (auto [state, next] : llvm::zip_equal(states, MutableArrayRef<Value>(results).drop_front()))
      if (state.form.bits == 16)
        next = f.cast(next, b.getBF16Type());
    if (givesDirection)
      return;
    Value rounded = form.roundsAtRandom ? stored::roundAtRandom(b, loc, results.front(),
                                                                randomBits(b, change, in.back()))
                                        : f.cast(results.front(), form.parameter);
    if (master)
      results.insert(results.begin(), rounded);
    else
      results.front() = rounded;
  };
  return SmallVector<Value>(loop(ins, outs, body).getResults());
}

/// The largest magnitude of each row. The bits of floats that are not negative are ordered as
/// integers, whose maximum does not depend on its order.
Value StoredUpdateBuilder::scalesOf(Value values) {
  Type i32 = builder.getI32Type();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value init = linalg::FillOp::create(builder, loc, zero, empty(perRow(i32))).getResult(0);
  SmallVector<utils::IteratorType> loops(rank(), utils::IteratorType::reduction);
  loops.front() = utils::IteratorType::parallel;
  auto largest = linalg::GenericOp::create(
      builder, loc, TypeRange(init.getType()), values, init,
      ArrayRef<AffineMap>{mapOf(values), mapOf(init)}, loops,
      [&](OpBuilder &b, Location l, ValueRange elements) {
        Value size = math::AbsFOp::create(b, l, elements[0]);
        Value bits = arith::BitcastOp::create(b, l, i32, size);
        linalg::YieldOp::create(b, l, arith::MaxSIOp::create(b, l, bits, elements[1]).getResult());
      });
  AffineMap row = builder.getMultiDimIdentityMap(1);
  auto scales = linalg::GenericOp::create(
      builder, loc, TypeRange(perRow(f32)), largest.getResults(), empty(perRow(f32)),
      ArrayRef<AffineMap>{row, row}, utils::IteratorType::parallel,
      [&](OpBuilder &b, Location l, ValueRange elements) {
        Formula f(b, l);
        Value size = arith::BitcastOp::create(b, l, f32, elements[0]);
        linalg::YieldOp::create(b, l, f.max(size, f.constant(stored::kLeastScale, f32)));
      });
  return scales.getResult(0);
}

/// 1 / `scales`.
Value StoredUpdateBuilder::inverseOf(Value scales) {
  AffineMap row = builder.getMultiDimIdentityMap(1);
  auto inverse = linalg::GenericOp::create(
      builder, loc, TypeRange(scales.getType()), scales, empty(perRow(f32)),
      ArrayRef<AffineMap>{row, row}, utils::IteratorType::parallel,
      [&](OpBuilder &b, Location l, ValueRange elements) {
        Formula f(b, l);
        linalg::YieldOp::create(b, l, f.div(f.constant(1, f32), elements[0]));
      });
  return inverse.getResult(0);
}

/// The codes of `values`, in place of those of `state`.
Value StoredUpdateBuilder::encode(const State &state, Value values, Value scales) {
  const stored::CodeTable table(state.form.map, state.form.bits);
  scales = inverseOf(scales);
  Type i8 = builder.getI8Type();
  if (state.form.bits == 8)
    return loop({values, scales}, state.values,
                [&](OpBuilder &b, ValueRange elements, SmallVectorImpl<Value> &results) {
                  Value code = stored::encode(b, loc, table, elements[0], elements[1]);
                  results.push_back(arith::TruncIOp::create(b, loc, i8, code));
                })
        .getResult(0);
  // The halves of a byte are a sum: a kernel of a GPU, which advances elements where it encodes
  // them, then needs no place for two of them.
  Type i32 = builder.getI32Type();
  auto bytes = RankedTensorType::get({ShapedType::kDynamic, block / 2}, i32);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value init = linalg::FillOp::create(builder, loc, zero, empty(bytes)).getResult(0);
  AffineExpr row, byte, half;
  bindDims(context, row, byte, half);
  AffineMap maps[] = {AffineMap::get(3, 0, {row, half, byte}, context), AffineMap::get(3, 0, row),
                      AffineMap::get(3, 0, {row, byte}, context)};
  const auto parallel = utils::IteratorType::parallel;
  utils::IteratorType loops[] = {parallel, parallel, utils::IteratorType::reduction};
  auto codes = linalg::GenericOp::create(
      builder, loc, TypeRange(bytes), ValueRange{values, scales}, init, maps, loops,
      [&](OpBuilder &b, Location l, ValueRange elements) {
        Value code = stored::encode(b, l, table, elements[0], elements[1]);
        Value shift = stored::shiftOfHalf(b, l, linalg::IndexOp::create(b, l, 2));
        Value shifted = arith::ShLIOp::create(b, l, code, shift);
        linalg::YieldOp::create(b, l, arith::OrIOp::create(b, l, elements[2], shifted).getResult());
      });
  AffineMap each = builder.getMultiDimIdentityMap(2);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(state.values.getType()), codes.getResults(), state.values,
             ArrayRef<AffineMap>{each, each}, ArrayRef(loops).drop_back(),
             [&](OpBuilder &b, Location l, ValueRange elements) {
               linalg::YieldOp::create(b, l,
                                       arith::TruncIOp::create(b, l, i8, elements[0]).getResult());
             })
      .getResult(0);
}

/// Of what the kernel changes in place.
SmallVector<Type> StoredUpdateBuilder::argumentTypes() const {
  SmallVector<Type> types;
  if (!givesDirection)
    types.push_back(rows(form.parameter));
  if (form.hasMaster())
    types.push_back(rows(f32));
  for (const StateForm &state : form.states)
    appendTypes(state, types);
  return types;
}

func::FuncOp StoredUpdateBuilder::build(StringRef name) {
  SmallVector<Type> types = argumentTypes(), results = types;
  const unsigned numInPlace = types.size();
  if (givesDirection)
    results.push_back(rows(f32));
  types.push_back(rows(form.gradient));
  types.append(form.scaled + optimizer.numScalars(), RankedTensorType::get({}, f32));
  if (form.roundsAtRandom)
    types.push_back(RankedTensorType::get({}, builder.getI64Type()));
  func::FuncOp kernel = startKernel(module, name, types, results, 0, numInPlace);
  builder.setInsertionPointToEnd(&kernel.getBody().front());

  ValueRange arguments = kernel.getArguments();
  auto take = [&] {
    Value first = arguments.front();
    arguments = arguments.drop_front();
    return first;
  };
  counted = arguments.front();
  if (!givesDirection)
    parameter = take();
  if (form.hasMaster())
    master = take();
  for (const StateForm &state : form.states) {
    State &own = states.emplace_back(State{state, take(), {}, {}});
    if (!state.hasCodes())
      continue;
    own.scales = take();
    own.table = stored::buildTable(builder, loc, stored::CodeTable(state.map, state.bits));
  }
  gradient = take();
  scalars = arguments;

  SmallVector<Value> next = advance(), returned;
  const unsigned numFirst = master ? 2 : 1;
  if (!givesDirection)
    returned.assign(next.begin(), next.begin() + numFirst);
  for (auto [state, values] : llvm::zip_equal(states, ArrayRef<Value>(next).drop_front(numFirst))) {
    if (!state.form.hasCodes()) {
      returned.push_back(values);
      continue;
    }
    Value scales = scalesOf(values);
    returned.append({encode(state, values, scales), scales});
  }
  if (givesDirection)
    returned.push_back(next.front());
  func::ReturnOp::create(builder, loc, returned);
  return kernel;
}

func::FuncOp buildStoredUpdate(ModuleOp module, const Optimizer &optimizer, const UpdateForm &form,
                               StringRef name) {
  return StoredUpdateBuilder(module, optimizer, form, /*givesDirection=*/false).build(name);
}

func::FuncOp buildStoredDirection(ModuleOp module, const Optimizer &optimizer,
                                  const UpdateForm &form, StringRef name) {
  return StoredUpdateBuilder(module, optimizer, form, /*givesDirection=*/true).build(name);
}

} // namespace zero
