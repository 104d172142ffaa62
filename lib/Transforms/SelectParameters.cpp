//===- SelectParameters.cpp - which constants are trained -----------------===//

#include "zero/Transforms/SelectParameters.h"

#include "zero/Analysis/ConstantRoles.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SELECTPARAMETERS
#include "include/zero/Transforms/Passes.h.inc"

namespace {
class Selector {
public:
  Selector(ModuleOp module, func::FuncOp step, const SelectionOptions &options)
      : module(module), options(options), roles(step) {
    for (auto read : step.getOps<ReadOp>())
      reads[read.getSymbolAttr().getAttr()] = read;
    for (auto state : module.getOps<StateOp>())
      if (state.getRole() == Role::Constant &&
          isa<FloatType>(state.getTensorType().getElementType()))
        states.push_back(state);
  }

  std::optional<Selection> run() {
    if (failed(parsePatterns()) || failed(checkList()))
      return std::nullopt;
    for (StateOp state : states) {
      ReadOp read = reads.lookup(state.getSymNameAttr());
      if (read && !roles.reachesLoss(read))
        read = nullptr;
      Selection::Item item = judge(state, read);
      if (item.reason.empty())
        train(state, std::move(item));
      else
        leaveOut(state, read, std::move(item));
    }
    if (failed(checkPatterns()))
      return std::nullopt;
    if (!options.forwardOnly)
      warnOfLostWeights();
    return std::move(selection);
  }

private:
  LogicalResult parsePatterns() {
    for (const std::string &text : options.freeze) {
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return emitError(module.getLoc())
               << "freeze pattern '" << text << "': " << llvm::toString(pattern.takeError());
      patterns.push_back({*pattern, false});
    }
    return success();
  }

  /// Exporters that fold constants rename weights: what is left would train, but
  /// not as the model.
  void warnOfLostWeights() {
    SmallVector<Selection::Item *> lost;
    for (Selection::Item &item : selection.leftOut)
      if (item.suspicious)
        lost.push_back(&item);
    if (lost.empty())
      return;
    InFlightDiagnostic warning =
        emitWarning(module.getLoc())
        << lost.size()
        << " constants look like weights that the exporter renamed and are not trained";
    for (Selection::Item *item : ArrayRef(lost).take_front(3))
      warning.attachNote() << item->name << ": " << item->type;
    warning.attachNote() << "export with torch.onnx.export(..., optimize=False), or list what to "
                            "train with --trainable=FILE";
  }

  LogicalResult checkPatterns() {
    for (auto [text, pattern] : llvm::zip_equal(options.freeze, patterns))
      if (!pattern.second)
        return emitError(module.getLoc()) << "freeze pattern '" << text << "' matches no parameter";
    return success();
  }

  /// Every listed name must be a float constant that the loss depends on.
  LogicalResult checkList() {
    if (!options.trainable)
      return success();
    llvm::StringMap<StateOp> byName;
    for (StateOp state : states)
      byName[state.getSymName()] = state;
    SmallVector<std::string> problems;
    for (const std::string &name : *options.trainable) {
      listed.insert(name);
      auto it = byName.find(name);
      if (it == byName.end())
        problems.push_back("'" + name + "' is no float initializer of more than one element");
      else if (ReadOp read = reads.lookup(it->second.getSymNameAttr());
               !read || !roles.reachesLoss(read))
        problems.push_back("'" + name + "' does not reach the loss");
    }
    if (problems.empty())
      return success();
    InFlightDiagnostic error = emitError(module.getLoc())
                               << problems.size() << " listed parameters cannot be trained";
    for (const std::string &problem : problems)
      error.attachNote() << problem;
    return error;
  }

  /// The item of `state`, with the reason to leave it out if there is one.
  Selection::Item judge(StateOp state, ReadOp read) {
    std::string type;
    llvm::raw_string_ostream os(type);
    llvm::interleave(state.getTensorType().getShape(), os, "x");
    os << 'x' << state.getTensorType().getElementType();
    Selection::Item item{state.getSymName().str(), type, "", false};
    if (!read)
      item.reason = "it does not reach the loss";
    else if (options.trainable)
      item.reason = listed.contains(item.name) ? "" : "it is not listed";
    else if (StringRef buffer = roles.bufferReason(read); !buffer.empty())
      item.reason = buffer;
    else if (options.forwardOnly)
      item.reason = "";
    else if (state.getTensorType().getNumElements() == 1)
      item.reason = "it has one element";
    else if (!isModulePath(item.name)) {
      item.reason = "its name is not that of a module's tensor";
      item.suspicious =
          llvm::count_if(state.getTensorType().getShape(), [](int64_t dim) { return dim > 1; }) > 1;
    }
    return item;
  }

  void train(StateOp state, Selection::Item item) {
    bool frozen = options.forwardOnly;
    for (auto &[pattern, matched] : patterns) {
      if (!pattern.match(item.name))
        continue;
      matched = frozen = true;
    }
    item.reason = frozen ? "frozen" : "";
    OpBuilder builder(state);
    auto parameter =
        ParameterOp::create(builder, state.getLoc(), state.getSymName(), state.getTensorType(),
                            state.getDataAttr(), state.getSplatAttr(), frozen, PlacementAttr(),
                            PlacementAttr(), FlatSymbolRefAttr(), IntegerAttr());
    state.erase();
    remark::passed(parameter.getLoc(), remark::RemarkOpts::name("trained").category("parameters"))
        << item.name + ": " + item.type + (frozen ? ", frozen" : "");
    selection.trained.push_back(std::move(item));
  }

  void leaveOut(StateOp state, ReadOp read, Selection::Item item) {
    remark::missed(state.getLoc(), remark::RemarkOpts::name("left-out").category("parameters"))
        << item.name + ": " + item.type + ", " + item.reason;
    selection.leftOut.push_back(std::move(item));
    if (read)
      return;
    // Its read, if it has one, feeds nothing that the loss needs.
    if (ReadOp dead = reads.lookup(state.getSymNameAttr()); dead && !dead->use_empty())
      return;
    else if (dead)
      dead.erase();
    state.erase();
  }

  ModuleOp module;
  const SelectionOptions &options;
  ConstantRoles roles;
  llvm::DenseMap<StringAttr, ReadOp> reads;
  SmallVector<StateOp> states;
  llvm::StringSet<> listed;
  SmallVector<std::pair<llvm::GlobPattern, bool>> patterns; ///< and whether it matched
  Selection selection;
};

struct SelectParameters : impl::SelectParametersBase<SelectParameters> {
  using SelectParametersBase::SelectParametersBase;

  void runOnOperation() override {
    SelectionOptions options;
    if (!trainable.empty()) {
      options.trainable = readTrainableFile(trainable, getOperation());
      if (!options.trainable)
        return signalPassFailure();
    }
    options.freeze.assign(freeze.begin(), freeze.end());
    options.forwardOnly = forwardOnly;
    if (!selectParameters(getOperation(), options))
      signalPassFailure();
  }
};
} // namespace

std::optional<std::vector<std::string>> readTrainableFile(StringRef path, ModuleOp module) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    emitError(module.getLoc()) << "cannot read '" << path << "': " << buffer.getError().message();
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line)
    if (StringRef name = line->trim(); !name.empty())
      names.push_back(name.str());
  if (!names.empty())
    return names;
  emitError(module.getLoc()) << "expected names of parameters in '" << path << "', got none";
  return std::nullopt;
}

std::optional<Selection> selectParameters(ModuleOp module, const SelectionOptions &options) {
  FailureOr<func::FuncOp> step = findStep(module);
  return succeeded(step) ? Selector(module, *step, options).run() : std::nullopt;
}

} // namespace zero
