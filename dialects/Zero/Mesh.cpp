//===- Mesh.cpp - the axes of the ranks of a program ----------------------===//

#include "dialects/Zero/Mesh.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace zero {

Mesh::Mesh(ModuleOp module) : context(module.getContext()) {
  if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr)) {
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      all.emplace_back(name.str(), size);
    return;
  }
  auto ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr);
  all.emplace_back(kDataAxis.str(), ranks ? ranks.getInt() : 1);
}

int64_t Mesh::ranks() const {
  int64_t product = 1;
  for (const auto &[name, size] : all)
    product *= size;
  return product;
}

int64_t Mesh::sizeOf(StringRef name) const {
  for (const auto &[axis, size] : all)
    if (axis == name)
      return size;
  return 1;
}

unsigned Mesh::indexOf(StringRef name) const {
  const auto *axis = llvm::find_if(all, [&](const auto &axis) { return axis.first == name; });
  assert(axis != all.end() && "expected an axis of the mesh");
  return unsigned(axis - all.begin());
}

bool Mesh::isAlong(GroupAttr group, StringRef name) const {
  if (!group)
    return llvm::is_contained(llvm::make_first_range(all), name);
  return llvm::any_of(group.getAxes(),
                      [&](FlatSymbolRefAttr axis) { return axis.getValue() == name; });
}

int64_t Mesh::sizeOf(GroupAttr group) const {
  int64_t product = 1;
  for (const auto &[name, size] : all)
    if (isAlong(group, name))
      product *= size;
  return product;
}

bool Mesh::cutsBatch(StringRef name) {
  return name == kDataAxis || name == kNodeAxis || name == kLocalAxis;
}

static bool cutsTokens(StringRef name) { return Mesh::cutsBatch(name) || name == kContextAxis; }

bool Mesh::exchangesActivations(GroupAttr group) const {
  const bool isContext =
      group && group.getAxes().size() == 1 && group.getAxes()[0].getValue() == kContextAxis;
  return isContext || isAlong(group, kTensorAxis);
}

int64_t Mesh::dataRanks() const {
  int64_t product = 1;
  for (const auto &[name, size] : all)
    if (cutsTokens(name))
      product *= size;
  return product;
}

int64_t Mesh::shardsOf(PlacementAttr placement) const {
  return placement.isSharded() ? sizeOf(GroupAttr::get(context, placement.getShard())) : 1;
}

bool Mesh::hasNodes() const { return llvm::is_contained(llvm::make_first_range(all), kNodeAxis); }

SmallVector<int64_t> Mesh::stridesIn(GroupAttr group) const {
  SmallVector<int64_t> strides(all.size());
  int64_t stride = 1;
  auto visit = [&](StringRef name) {
    for (auto [own, axis] : llvm::zip_equal(strides, all))
      if (axis.first == name) {
        own = stride;
        stride *= axis.second;
      }
  };
  if (group)
    for (FlatSymbolRefAttr axis : llvm::reverse(group.getAxes()))
      visit(axis.getValue());
  else
    for (const auto &axis : llvm::reverse(all))
      visit(axis.first);
  return strides;
}

GroupAttr Mesh::groupOver(ArrayRef<StringRef> names) const {
  if (llvm::equal(names, llvm::make_first_range(all)))
    return {};
  return GroupAttr::get(context, llvm::map_to_vector(names, [&](StringRef name) {
                          return FlatSymbolRefAttr::get(context, name);
                        }));
}

GroupAttr Mesh::groupOf(StringRef name) const {
  return all.size() == 1 ? GroupAttr() : groupOver(name);
}

GroupAttr Mesh::dataGroup() const {
  SmallVector<StringRef> names;
  for (const auto &[name, size] : all)
    if (cutsTokens(name))
      names.push_back(name);
  return groupOver(names);
}

SmallVector<StringRef> Mesh::shardAxes(int64_t shards) const {
  SmallVector<StringRef> axes;
  int64_t product = 1;
  for (StringRef name : {StringRef(kLocalAxis), StringRef(kNodeAxis), StringRef(kDataAxis),
                         StringRef(kContextAxis)}) {
    if (product == shards)
      return axes;
    // Also of one rank beside `context`: collectives along that axis alone exchange activations.
    const bool isBesideContext = name == kDataAxis && contextRanks() > 1 && !hasNodes();
    if (const int64_t size = sizeOf(name); size > 1 || isBesideContext) {
      axes.push_back(name);
      product *= size;
    }
  }
  return product == shards ? axes : SmallVector<StringRef>();
}

GroupAttr Mesh::sliceGroup(int64_t shards, int64_t outer) const {
  return groupOver(ArrayRef(shardAxes(shards)).drop_front(shardAxes(outer).size()));
}

void setMesh(ModuleOp module, ArrayRef<std::pair<std::string, int64_t>> axes) {
  Builder builder(module.getContext());
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const auto &[name, size] : axes) {
    names.push_back(builder.getStringAttr(name));
    sizes.push_back(size);
  }
  module->setAttr(kMeshAttr, MeshAttr::get(module.getContext(), names, sizes));
}

void cutIntoNodes(ModuleOp module, int64_t ranks, int64_t local) {
  SmallVector<std::pair<std::string, int64_t>> axes;
  const Mesh mesh(module);
  for (const auto &[name, size] : mesh.axes()) {
    if (name == kDataAxis) {
      axes.emplace_back(kNodeAxis.str(), ranks / local);
      axes.emplace_back(kLocalAxis.str(), local);
    } else {
      axes.emplace_back(name, size);
    }
  }
  setMesh(module, axes);
}

ShardAttr shardOf(Operation *op) { return op->getAttrOfType<ShardAttr>(kShardAttr); }

SmallVector<int64_t> wholeShape(Operation *op, RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  ShardAttr shard = shardOf(op);
  if (!shard)
    return shape;
  const Mesh mesh(op->getParentOfType<ModuleOp>());
  shape[shard.getDim()] *= mesh.sizeOf(GroupAttr::get(op->getContext(), shard.getOver()));
  return shape;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseAxis))
    return {};
  auto fail = [&] { return parser.emitError(parser.getNameLoc()); };
  return MeshAttr::getChecked(fail, parser.getContext(), ArrayRef(names), ArrayRef(sizes));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(llvm::zip_equal(getNames(), getSizes()), printer, [&](const auto &axis) {
    printer.printKeywordOrString(std::get<0>(axis).getValue());
    printer << " = " << std::get<1>(axis);
  });
  printer << ">";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes) {
  if (names.empty() || names.size() != sizes.size())
    return emitError() << "expected a size for each of at least one axis";
  for (auto [index, name] : llvm::enumerate(names))
    if (llvm::is_contained(names.drop_front(index + 1), name))
      return emitError() << "expected axes of different names, got '" << name.getValue()
                         << "' twice";
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    if (size < 1)
      return emitError() << "expected at least one rank along '" << name.getValue() << "', got "
                         << size;
  return success();
}

LogicalResult ShardAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dim,
                                ArrayRef<FlatSymbolRefAttr> over, ArrayRef<int64_t> parts) {
  if (dim < 0)
    return emitError() << "expected a dimension of at least 0, got " << dim;
  if (over.empty())
    return emitError() << "expected at least one axis of the mesh";
  for (int64_t part : parts)
    if (part < 1)
      return emitError() << "expected parts of at least one index, got " << part;
  return success();
}

} // namespace zero
