//===- SelectParameters.cpp - which constants are trained -----------------===//

#include "zero/Transforms/SelectParameters.h"

#include "dialects/Zero/ExporterAttrs.h"
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

  LogicalResult checkPatterns() {
    for (auto [text, pattern] : llvm::zip_equal(options.freeze, patterns))
      if (!pattern.second)
        return emitError(module.getLoc()) << "freeze pattern '" << text << "' matches no parameter";
    return success();
  }

  /// Every line of the list must name a float constant that the loss depends on, or be
  /// a pattern that matches one.
  LogicalResult checkList() {
    if (!options.trainable)
      return success();
    llvm::StringMap<bool> reaches;
    for (StateOp state : states) {
      ReadOp read = reads.lookup(state.getSymNameAttr());
      reaches[state.getSymName()] = read && roles.reachesLoss(read);
    }
    SmallVector<std::string> problems;
    for (const std::string &line : *options.trainable)
      if (std::string problem = enterLine(line, reaches); !problem.empty())
        problems.push_back("'" + line + "' " + problem);
    if (problems.empty())
      return success();
    InFlightDiagnostic error = emitError(module.getLoc())
                               << problems.size() << " listed parameters cannot be trained";
    for (const std::string &problem : problems)
      error.attachNote() << problem;
    return error;
  }

  /// Adds what `line` names to `listed`; returns what is wrong with it, or nothing.
  std::string enterLine(StringRef line, const llvm::StringMap<bool> &reaches) {
    if (auto it = reaches.find(line); it != reaches.end()) {
      listed.insert(line);
      return it->second ? "" : "does not reach the loss";
    }
    if (line.find_first_of("*?[") == StringRef::npos)
      return "is no float initializer of more than one element";
    auto pattern = llvm::GlobPattern::create(line);
    if (!pattern)
      return "is a bad pattern: " + llvm::toString(pattern.takeError());
    bool matches = false;
    for (const auto &entry : reaches)
      if (entry.second && pattern->match(entry.first())) {
        matches = true;
        listed.insert(entry.first());
      }
    return matches ? "" : "matches no float initializer that reaches the loss";
  }

  /// The item of `state`, with the reason to leave it out if there is one.
  Selection::Item judge(StateOp state, ReadOp read) {
    std::string type;
    llvm::raw_string_ostream os(type);
    llvm::interleave(state.getTensorType().getShape(), os, "x");
    os << 'x' << state.getTensorType().getElementType();
    Selection::Item item{state.getSymName().str(), type, ""};
    if (!read)
      item.reason = "it does not reach the loss";
    else if (options.trainable)
      item.reason = listed.contains(item.name) ? "" : "it is not listed";
    else
      item.reason = reasonToLeaveOut(state, read);
    return item;
  }

  /// The exporter's word counts where it says what a tensor is; otherwise use and name.
  std::string reasonToLeaveOut(StateOp state, ReadOp read) {
    auto attribute = state->getAttrOfType<StringAttr>(kExportedAsAttr);
    StringRef kind = attribute ? attribute.getValue() : "";
    if (kind == "parameter")
      return "";
    if (StringRef buffer = roles.bufferReason(read); !buffer.empty())
      return buffer.str();
    if (kind == "buffer")
      return "a buffer of the module";
    if (!kind.empty())
      return "it is no parameter of the module";
    if (state.getTensorType().getNumElements() == 1)
      return "it has one element";
    return isModulePath(state.getSymName()) ? "" : "its name is not that of a module's tensor";
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
