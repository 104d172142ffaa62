//===- Contraction.cpp - matrix products ----------------------------------===//
//
// zero: Contract(a, b) {transA, transB}: see Contraction.h. Gradient: two
// products of the same kind, summed over the dimensions that were broadcast.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// Neighbouring batch dimensions, merged, that the same operands have.
struct Group {
  int64_t extent;
  bool inA, inB;
};

/// A product with its batch dimensions merged and those of extent one dropped.
struct Product {
  SmallVector<Group> groups;
  int64_t m, n, k;
};
} // namespace

/// The extent of batch dimension `dim` of `rank` counted from the back of `type`'s.
static int64_t batchExtent(RankedTensorType type, int64_t dim, int64_t rank) {
  int64_t own = dim - rank + type.getRank() - 2;
  return own < 0 ? 1 : type.getDimSize(own);
}

static Product productOf(RankedTensorType a, RankedTensorType b, bool transA, bool transB) {
  Product product;
  int64_t rank = std::max(a.getRank(), b.getRank()) - 2;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t inA = batchExtent(a, dim, rank), inB = batchExtent(b, dim, rank);
    Group group{inA == 1 ? inB : inA, inA != 1, inB != 1};
    if (!group.inA && !group.inB)
      continue;
    if (!product.groups.empty() && product.groups.back().inA == group.inA &&
        product.groups.back().inB == group.inB)
      product.groups.back().extent *= group.extent;
    else
      product.groups.push_back(group);
  }
  product.m = a.getDimSize(a.getRank() - (transA ? 1 : 2));
  product.k = a.getDimSize(a.getRank() - (transA ? 2 : 1));
  product.n = b.getDimSize(b.getRank() - (transB ? 2 : 1));
  // Batches of the left operand alone are but more of its rows.
  if (!transA && !product.groups.empty() && !product.groups.back().inB) {
    product.m *= product.groups.back().extent;
    product.groups.pop_back();
  }
  return product;
}

static SmallVector<int64_t> resultShape(RankedTensorType a, RankedTensorType b, bool transA,
                                        bool transB) {
  SmallVector<int64_t> shape;
  int64_t rank = std::max(a.getRank(), b.getRank()) - 2;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t inA = batchExtent(a, dim, rank);
    shape.push_back(inA == 1 ? batchExtent(b, dim, rank) : inA);
  }
  shape.push_back(a.getDimSize(a.getRank() - (transA ? 1 : 2)));
  shape.push_back(b.getDimSize(b.getRank() - (transB ? 2 : 1)));
  return shape;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
/// Shape and indexing map of one operand, in loops (groups..., m, n, k).
struct Side {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;

  void add(ImplicitLocOpBuilder &b, int64_t extent, int64_t loop) {
    shape.push_back(extent);
    exprs.push_back(b.getAffineDimExpr(loop));
  }
  void addPair(ImplicitLocOpBuilder &b, std::pair<int64_t, int64_t> row,
               std::pair<int64_t, int64_t> column, bool swapped) {
    if (swapped)
      std::swap(row, column);
    add(b, row.first, row.second);
    add(b, column.first, column.second);
  }
};
} // namespace

Value multiplyAdd(OpBuilder &builder, Location loc, ValueRange elements) {
  if (isa<FloatType>(elements[2].getType())) {
    Value product = arith::MulFOp::create(builder, loc, elements[0], elements[1]);
    return arith::AddFOp::create(builder, loc, elements[2], product, arith::FastMathFlags::reassoc);
  }
  Value product = arith::MulIOp::create(builder, loc, elements[0], elements[1]);
  return arith::AddIOp::create(builder, loc, elements[2], product);
}

static Value emitProduct(ImplicitLocOpBuilder &b, ArrayRef<Value> operands, Value init,
                         ArrayRef<Side> sides) {
  int64_t loops = sides[2].shape.size() + 1;
  SmallVector<AffineMap> maps;
  for (const Side &side : sides)
    maps.push_back(AffineMap::get(loops, 0, side.exprs, b.getContext()));
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      b, TypeRange(init.getType()), operands, init, maps, iterators,
      [](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, multiplyAdd(inner, loc, elements));
      });
  return generic.getResult(0);
}

Value contract(ImplicitLocOpBuilder &b, Value a, Value rhs, bool transA, bool transB) {
  RankedTensorType typeA = tensorType(a), typeB = tensorType(rhs);
  Product product = productOf(typeA, typeB, transA, transB);
  int64_t batches = product.groups.size();
  Side sides[3];
  for (auto [loop, group] : llvm::enumerate(product.groups)) {
    if (group.inA)
      sides[0].add(b, group.extent, loop);
    if (group.inB)
      sides[1].add(b, group.extent, loop);
    sides[2].add(b, group.extent, loop);
  }
  std::pair<int64_t, int64_t> m{product.m, batches}, n{product.n, batches + 1},
      k{product.k, batches + 2};
  sides[0].addPair(b, m, k, transA);
  sides[1].addPair(b, k, n, transB);
  sides[2].addPair(b, m, n, false);
  Value left = reshaped(b, a, typeA.clone(sides[0].shape));
  Value right = reshaped(b, rhs, typeB.clone(sides[1].shape));
  Value result = emitProduct(b, {left, right}, filled(b, typeA.clone(sides[2].shape), 0), sides);
  return reshaped(b, result, typeA.clone(resultShape(typeA, typeB, transA, transB)));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Whether all of `type`'s batch dimensions have extent one.
static bool isOneMatrix(RankedTensorType type) {
  return product(type.getShape().drop_back(2)) == 1;
}

/// `value` as one matrix of its rows.
static Value asRows(NodeBuilder &builder, Value value) {
  int64_t columns = tensorType(value).getShape().back();
  return builder.reshape(value, {product(tensorType(value).getShape().drop_back()), columns});
}

static Value asMatrix(NodeBuilder &builder, Value value) {
  return builder.reshape(value, tensorType(value).getShape().take_back(2));
}

Value contractNode(NodeBuilder &builder, Value a, Value b, bool transA, bool transB, Type element) {
  RankedTensorType typeA = tensorType(a), typeB = tensorType(b);
  if (!element)
    element = typeA.getElementType();
  auto shape = resultShape(typeA, typeB, transA, transB);
  if (!transA && typeA.getRank() > 2 && isOneMatrix(typeB)) {
    Value rows =
        contractNode(builder, asRows(builder, a), asMatrix(builder, b), false, transB, element);
    return builder.reshape(rows, shape);
  }
  return builder
      .create(own::Contract, RankedTensorType::get(shape, element), {a, b},
              {builder.attr("transA", int64_t(transA)), builder.attr("transB", int64_t(transB))})
      .getResult(0);
}

static Value gradientOfA(NodeBuilder &builder, Value a, Value b, Value grad, bool transA,
                         bool transB) {
  Type element = tensorType(a).getElementType();
  Value product = transA ? contractNode(builder, b, grad, transB, true, element)
                         : contractNode(builder, grad, b, false, !transB, element);
  return builder.reduceTo(product, tensorType(a));
}

static Value gradientOfB(NodeBuilder &builder, Value a, Value b, Value grad, bool transA,
                         bool transB) {
  // One matrix for all rows: its gradient is one product over all of them.
  if (isOneMatrix(tensorType(b)) && !transA) {
    a = asRows(builder, a);
    grad = asRows(builder, grad);
  }
  Type element = tensorType(b).getElementType();
  Value product = transB ? contractNode(builder, grad, a, true, transA, element)
                         : contractNode(builder, a, grad, !transA, false, element);
  return builder.reduceTo(product, tensorType(b));
}

std::pair<Value, Value> contractGradients(NodeBuilder &builder, Value a, Value b, Value grad,
                                          bool transA, bool transB, bool wantA, bool wantB) {
  Value gradA = wantA ? gradientOfA(builder, a, b, grad, transA, transB) : Value();
  Value gradB = wantB ? gradientOfB(builder, a, b, grad, transA, transB) : Value();
  return {gradA, gradB};
}

static LogicalResult lowerContract(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(contract(b, inputs[0], inputs[1], node.getInt("transA", 0) != 0,
                                     node.getInt("transB", 0) != 0));
  return success();
}

static LogicalResult contractGradient(onnx::NodeOp node, ValueRange outputGrads,
                                      ArrayRef<bool> wanted, NodeBuilder &builder,
                                      MutableArrayRef<Value> inputGrads) {
  if (outputGrads.front())
    std::tie(inputGrads[0], inputGrads[1]) = contractGradients(
        builder, node.getInputs()[0], node.getInputs()[1], outputGrads.front(),
        node.getInt("transA", 0) != 0, node.getInt("transB", 0) != 0, wanted[0], wanted[1]);
  return success();
}

static LogicalResult contractPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                     SmallVectorImpl<Value> &results) {
  Value a = node.getInputs()[0], b = node.getInputs()[1];
  int64_t transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  if (tensorType(a).getRank() == 2 && tensorType(b).getRank() == 2) {
    results.push_back(nodes
                          .create(op::Gemm, node.getResult(0).getType(), {a, b},
                                  {nodes.attr("transA", transA), nodes.attr("transB", transB)})
                          .getResult(0));
    return success();
  }
  results.push_back(
      nodes.matmul(transA ? nodes.transposeLast(a) : a, transB ? nodes.transposeLast(b) : b));
  return success();
}

void registerContraction() {
  registerOp(OpDef{own::Contract, 1, 1, Kind::Product, lowerContract, contractGradient}
                 .linearly(Linear::InEach)
                 .writtenBy(contractPlainly)
                 .computing(Function::Product));
}

} // namespace zero::ops
