//===- SelectParameters.cpp - select trained constants --------------------===//

#include "SelectParameters.h"

#include "ConstantRoles.h"
#include "FrozenNames.h"
#include "TrainableList.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/ConstantNames.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Import/NamePatterns.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SELECTPARAMETERS
#include "include/zero/Transforms/Import/Passes.h.inc"

namespace {
class Selector {
public:
  Selector(ModuleOp module, func::FuncOp step, const SelectionOptions &options)
      : module(module), options(options), roles(step) {
    for (auto read : step.getOps<ReadOp>())
      reads[read.getSymbolAttr().getAttr()] = read;
    for (auto state : module.getOps<StateOp>())
      if (state.getRole() == Role::Constant &&
          isa<FloatType>(state.getTensorType().getElementType())) {
        hasRecord |= state->hasAttr(kExportedFrozenAttr);
        candidates.push_back(judge(state));
      }
  }

  std::optional<Selection> run() {
    auto freeze = NamePatterns::create(module, "freeze", options.freeze);
    auto allBut = NamePatterns::create(module, "freeze-all-but", options.freezeAllBut);
    if (failed(freeze) || failed(allBut) ||
        (options.trainable &&
         failed(markListed(module, candidates, *options.trainable, options.verbose))))
      return std::nullopt;
    for (Candidate &candidate : candidates)
      if (candidate.isListed || candidate.kind == Candidate::Kind::Parameter)
        train(candidate, isFrozen(candidate, *freeze, *allBut));
      else
        leaveOut(candidate);
    if (failed(checkUsed(*freeze)) || failed(checkUsed(*allBut)))
      return std::nullopt;
    if (!options.saysWhatIsTrained() && options.freeze.empty() && !hasRecord)
      warnOfFrozenNames(module, llvm::map_to_vector(selection.trained, [](auto &item) {
                          return StringRef(item.name);
                        }));
    warnOfDoubtful();
    warnOfNoRecord();
    return std::move(selection);
  }

private:
  /// The decision of the rules for `state`. The exporter's kind counts if it is recorded; otherwise
  /// use and name decide.
  Candidate judge(StateOp state) {
    using Kind = Candidate::Kind;
    ReadOp read = reads.lookup(state.getSymNameAttr());
    SmallVector<StringRef> names = aliasesOf(state);
    names.insert(names.begin(), state.getSymName());
    auto as = [&](Kind kind, const Twine &reason) {
      return Candidate{state, read, names, kind, reason.str()};
    };
    if (!read || !roles.reachesLoss(read)) {
      read = nullptr;
      return as(Kind::Nameless, "it does not reach the loss");
    }
    auto attribute = state->getAttrOfType<StringAttr>(kExportedAsAttr);
    StringRef said = attribute ? attribute.getValue() : "";
    if (roles.isRunningStatistic(read))
      return as(Kind::Statistic, roles.bufferReason(read));
    if (said == "parameter")
      return as(Kind::Parameter, "");
    if (StringRef buffer = roles.bufferReason(read); !buffer.empty())
      return as(Kind::Buffer, buffer);
    if (said == "buffer")
      return as(Kind::Buffer, "a buffer of the module");
    if (!said.empty())
      return as(Kind::Nameless, "it is no parameter of the module");
    return isModulePath(state.getSymName(), module->hasAttr(kNoRecordAttr))
               ? as(Kind::Parameter, "")
               : as(Kind::Nameless, "its name is not that of a module's tensor");
  }

  /// A list freezes the parameters that it does not contain; they are sharded and moved as
  /// parameters are.
  bool isFrozen(Candidate &candidate, NamePatterns &freeze, NamePatterns &allBut) {
    const bool matched = freeze.match(candidate.names);
    const bool excepted = allBut.match(candidate.names);
    if (candidate.state.getTensorType().getNumElements() == 0)
      return true; // no element would change
    if (!options.saysWhatIsTrained() && candidate.state->hasAttr(kExportedFrozenAttr))
      return true;
    return options.freezeAll || matched || (!allBut.empty() && !excepted) ||
           (options.trainable && !candidate.isListed);
  }

  /// Every pattern has to match a parameter.
  LogicalResult checkUsed(const NamePatterns &patterns) {
    const NamePatterns::Member *unused = patterns.findUnused();
    if (!unused)
      return success();
    InFlightDiagnostic error = emitError(module.getLoc())
                               << patterns.describe(*unused) << " matches no parameter";
    for (const Selection::Item &item : selection.leftOut)
      if (unused->pattern->match(item.name)) {
        error.attachNote() << "it matches '" << item.name
                           << "', which is not trained anyhow: " << item.reason;
        break;
      }
    if (auto absent = module->getAttrOfType<ArrayAttr>(kAbsentParametersAttr))
      for (StringRef name : absent.getAsValueRange<StringAttr>())
        if (unused->pattern->match(name)) {
          error.attachNote() << "it matches '" << name
                             << "', which the graph does not contain: nothing reads it, or it is "
                                "tied to a tensor of another name";
          break;
        }
    return error;
  }

  static Selection::Item itemOf(const Candidate &candidate) {
    StateOp state = candidate.state;
    RankedTensorType type = state.getTensorType();
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleave(type.getShape(), os, "x");
    os << 'x' << type.getElementType();
    return {candidate.name().str(), text, candidate.reason};
  }

  void train(Candidate &candidate, bool frozen) {
    StateOp state = candidate.state;
    Selection::Item item = itemOf(candidate);
    item.reason = frozen ? "frozen" : "";
    OpBuilder builder(state);
    auto parameter = ParameterOp::create(
        builder, state.getLoc(), state.getSymName(), state.getTensorType(), state.getDataAttr(),
        state.getSplatAttr(), frozen, state.getRequired(), state.getRandomAttr());
    for (StringRef kept : {StringRef(kAliasesAttr), StringRef(kShardedDimAttr)})
      if (Attribute value = state->getAttr(kept))
        parameter->setAttr(kept, value);
    state.erase();
    remark::passed(parameter.getLoc(),
                   remark::RemarkOpts::name(frozen ? "frozen" : "trained").category("parameters"))
        << item.name + ": " + item.type + (frozen ? ", frozen" : "");
    selection.trained.push_back(std::move(item));
  }

  void leaveOut(Candidate &candidate) {
    StateOp state = candidate.state;
    Selection::Item item = itemOf(candidate);
    remark::missed(state.getLoc(), remark::RemarkOpts::name("left-out").category("parameters"))
        << item.name + ": " + item.type + ", " + item.reason;
    selection.leftOut.push_back(std::move(item));
    if (candidate.reachesLoss()) {
      if (mayBeParameter(candidate))
        doubtful.push_back("'" + candidate.name().str() + "'");
      if (auto number = state->getAttrOfType<FloatAttr>(kNumberAttr))
        makeConstant(candidate, number.getValueAsDouble());
      return;
    }
    // Its read, if it has one, feeds nothing that the loss needs.
    if (ReadOp dead = reads.lookup(state.getSymNameAttr()); dead && !dead->use_empty())
      return;
    else if (dead)
      dead.erase();
    state.erase();
  }

  /// Nothing but a name tells a temperature from the factors of a formula.
  bool mayBeParameter(const Candidate &candidate) {
    return candidate.kind == Candidate::Kind::Nameless &&
           !candidate.state->hasAttr(kExportedAsAttr) && !isMadeUpName(candidate.name()) &&
           !roles.isFormulaNumber(candidate.read);
  }

  /// Makes a state of one element a constant of the step, which patterns and rules can read.
  void makeConstant(Candidate &candidate, double number) {
    OpBuilder builder(candidate.read);
    RankedTensorType type = candidate.read.getType();
    auto element = builder.getFloatAttr(type.getElementType(), number);
    Value constant = arith::ConstantOp::create(builder, candidate.read.getLoc(),
                                               DenseElementsAttr::get(type, element));
    candidate.read.replaceAllUsesWith(constant);
    candidate.read.erase();
    candidate.state.erase();
  }

  void warnOfDoubtful() {
    if (doubtful.empty() || selection.trained.empty() || options.saysWhatIsTrained())
      return;
    emitWarning(module.getLoc())
        << "the exporter does not record whether these initializers are parameters, and "
           "their names are not those of a module's tensors, so they are not trained: "
        << llvm::join(doubtful, ", ")
        << "; if one is a parameter, list all that is trained in --trainable=FILE "
           "(docs/guides/weights.md)";
  }

  /// Of such a graph, nothing else shows what it does not train as the module does.
  void warnOfNoRecord() {
    if (!module->hasAttr(kNoRecordAttr) || selection.trained.empty())
      return;
    InFlightDiagnostic warning = emitWarning(module.getLoc());
    warning << "PyTorch exported this graph without a record, as with dynamo=False: gradients "
               "flow through what the module detaches, and to rows of padding_idx";
    if (!options.saysWhatIsTrained())
      warning << ", and the " << selection.trained.size()
              << " float tensors with a module's names are trained or frozen like parameters, "
                 "though some may be buffers; list what is trained in --trainable=FILE";
    warning << "; export with dynamo=True, or compare the gradients (docs/guides/export.md)";
  }

  ModuleOp module;
  const SelectionOptions &options;
  ConstantRoles roles;
  llvm::DenseMap<StringAttr, ReadOp> reads;
  std::vector<Candidate> candidates;
  bool hasRecord = false; ///< the exporter says what was frozen
  Selection selection;
  std::vector<std::string> doubtful; ///< left out, but perhaps parameters
};

struct SelectParameters : impl::SelectParametersBase<SelectParameters> {
  using SelectParametersBase::SelectParametersBase;

  void runOnOperation() override {
    // A whole step trains what it updates.
    if (getOperation()->hasAttr(kWholeStepAttr))
      return;
    SelectionOptions options;
    if (!trainable.empty()) {
      options.trainable = readTrainableFile(trainable, getOperation());
      if (!options.trainable)
        return signalPassFailure();
    }
    options.freeze.assign(freeze.begin(), freeze.end());
    options.freezeAllBut.assign(freezeAllBut.begin(), freezeAllBut.end());
    options.freezeAll = freezeAll;
    options.verbose = verbose;
    if (!selectParameters(getOperation(), options))
      signalPassFailure();
  }
};
} // namespace

std::optional<Selection> selectParameters(ModuleOp module, const SelectionOptions &options) {
  FailureOr<func::FuncOp> step = findStep(module);
  return succeeded(step) ? Selector(module, *step, options).run() : std::nullopt;
}

} // namespace zero
