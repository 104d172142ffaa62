//===- Certificate.cpp - what a run will take, before it runs -------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Pipelines/Compiler.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace zero {

namespace {

/// The sizes that ZeRO's arithmetic is about.
struct ModelSize {
  int64_t elements = 0; ///< trained and frozen
  int64_t trained = 0;
  int64_t stateElements = 0; ///< of optimizer states
  int64_t bytes = 0;         ///< of parameters
};

} // namespace

static ModelSize measure(ModuleOp module) {
  ModelSize size;
  for (auto parameter : module.getOps<ParameterOp>()) {
    int64_t elements = parameter.getTensorType().getNumElements();
    size.elements += elements;
    size.trained += parameter.getFrozen() ? 0 : elements;
    size.bytes += tensorBytes(parameter.getTensorType());
  }
  for (auto state : module.getOps<StateOp>())
    if (state.getOf())
      size.stateElements += state.getTensorType().getNumElements();
  return size;
}

static std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

/// Model state of one rank by the paper's arithmetic, `parameter`, `gradient` and
/// `optimizer` bytes an element (ZeRO, arXiv 1910.02054, figure 1).
static double stateBytes(const ModelSize &size, int64_t stage, double ranks, double parameter,
                         double gradient, double optimizer) {
  return size.elements * parameter / (stage >= 3 ? ranks : 1) +
         size.trained * gradient / (stage >= 2 ? ranks : 1) + optimizer / (stage >= 1 ? ranks : 1);
}

namespace {

/// Whole buckets that a step moves, in elements; a rank receives (N-1)/N of each.
struct Volume {
  int64_t forward = 0;   ///< gathered for forward
  int64_t backward = 0;  ///< gathered for backward
  int64_t update = 0;    ///< gathered after the update
  int64_t gradients = 0; ///< reduced
};

} // namespace

static Volume measureVolume(func::FuncOp step) {
  Volume volume;
  llvm::DenseSet<Operation *> forward = findForwardOps(step);
  auto count = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getRank() == 0 ? 0 : type.getNumElements();
  };
  for (Operation &op : step.getBody().front()) {
    if (auto gather = dyn_cast<AllGatherOp>(op)) {
      int64_t &sum = op.hasAttr(kEpilogueAttr) ? volume.update
                     : forward.contains(&op)   ? volume.forward
                                               : volume.backward;
      sum += count(gather.getResult());
    } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      volume.gradients += count(scatter.getInput());
    } else if (auto reduce = dyn_cast<AllReduceOp>(op)) {
      // A reduction to slices and a gather of them.
      volume.gradients += count(reduce.getInput());
      volume.update += count(reduce.getInput());
    }
  }
  return volume;
}

/// What a rank receives in a step, and by which causes it differs from the paper's
/// 2P at stages 0 to 2 and 3P at stage 3 (ZeRO, arXiv 1910.02054, section 7).
static void printVolume(ModuleOp module, int64_t stage, int64_t ranks, int64_t parameters,
                        llvm::raw_ostream &os) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepName);
  if (!step || ranks == 1)
    return;
  Volume v = measureVolume(step);
  int64_t padded = 0;
  for (int64_t elements : module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr).asArrayRef())
    padded += elements;
  int64_t total = v.forward + v.backward + v.update + v.gradients;
  int64_t paper = (stage == 3 ? 3 : 2) * parameters;
  os << "each rank receives " << total / ranks * (ranks - 1) << " elements a step, " << ranks - 1
     << "/" << ranks << " of " << total << ": forward " << v.forward << ", backward " << v.backward
     << ", update " << v.update << ", gradients " << v.gradients << "\n"
     << "  the paper's " << (stage == 3 ? "3P" : "2P") << " is " << paper << "; here "
     << llvm::format("%+lld", (long long)(total - paper));
  if (stage == 3)
    os << llvm::format(": gathered again where used far apart %+lld, not read in backward %+lld, "
                       "not trained %+lld, padding %+lld",
                       (long long)(v.forward - padded), (long long)(v.backward - padded),
                       (long long)(v.gradients - padded), (long long)(3 * (padded - parameters)));
  os << "\n";
}

void printCertificate(ModuleOp module, llvm::raw_ostream &os) {
  auto certificate = module->getAttrOfType<DictionaryAttr>(kCertificateAttr);
  auto integer = [&](StringRef name) { return module->getAttrOfType<IntegerAttr>(name).getInt(); };
  int64_t stage = integer(kStageAttr), ranks = integer(kRanksAttr);
  ModelSize size = measure(module);
  os << "ZeRO stage " << stage << " on " << ranks << (ranks == 1 ? " rank, " : " ranks, ")
     << size.elements << " parameters";
  if (size.trained != size.elements)
    os << " (" << size.trained << " trained)";
  if (auto optimizer = module->getAttrOfType<StringAttr>(kOptimizerAttr))
    os << ", " << optimizer.getValue();
  os << "\nmemory of each rank, bytes:\n";
  os << "                         most at once         at the peak\n";
  for (unsigned i = 0; i < kNumUsages; ++i) {
    auto bytes = certificate.getAs<DenseI64ArrayAttr>(usageName(Usage(i))).asArrayRef();
    os << "  " << llvm::left_justify(usageName(Usage(i)), 16)
       << llvm::format("%19lld", (long long)bytes[0]) << llvm::format("%20lld", (long long)bytes[1])
       << "\n";
  }
  int64_t peak = certificate.getAs<IntegerAttr>("peak").getInt();
  int64_t bound = certificate.getAs<IntegerAttr>("lower_bound").getInt();
  os << "  " << llvm::left_justify("arena", 16) << llvm::format("%39lld", (long long)peak) << "  = "
     << bytesText(peak) << ", the most live at once is "
     << llvm::format("%.1f", 100.0 * bound / std::max<int64_t>(peak, 1)) << " % of it, at "
     << certificate.getAs<StringAttr>("peak_at").getValue() << "\n";
  double fp32 = stateBytes(size, stage, ranks, 4, 4, 4.0 * size.stateElements);
  double mixed = stateBytes(size, stage, ranks, 2, 2, 12.0 * size.trained);
  os << "model state by ZeRO's arithmetic, before padding: " << bytesText(fp32)
     << " a rank here; in the paper's 16 bits with Adam " << bytesText(mixed) << "\n";
  printVolume(module, stage, ranks, size.elements, os);
}

} // namespace zero
