//===- Compiler.cpp - mutated models for the compiler ---------------------===//

#include "Bytes.h"
#include "Fuzz.h"
#include "Model.h"
#include "Reflect.h"

#include "runtime/load/validate.h"
#include "zero/Driver/Compiler.h"
#include "zero/Ops/OpTable.h"

#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

namespace zero::fuzz {

static constexpr const char *kWeights = "weights.bin";
/// How bytecode of MLIR begins.
static constexpr const char *kBytecode = "ML\xefR";

/// Options below this number denote flags of plain fp32 steps, as in old cases.
static constexpr uint64_t kPlainOptions = 64;
/// Options from this number on denote flags of whole training steps.
static constexpr uint64_t kWholeStepOptions = 2 * kPlainOptions;

/// The suffix of the next value of a state in the seeds that are whole steps.
static constexpr const char *kNext = ".new";

static bool isWholeStep(const ::onnx::ModelProto &model) {
  return llvm::any_of(model.graph().output(), [](const ::onnx::ValueInfoProto &output) {
    return output.name().ends_with(kNext);
  });
}

/// Whether `model` has a node of an operator of onnxruntime-training whose name contains `type`.
static bool hasRuntimeOp(const ::onnx::ModelProto &model, const char *type) {
  return llvm::any_of(model.graph().node(), [&](const ::onnx::NodeProto &node) {
    return node.domain() == "com.microsoft" && node.op_type().find(type) != std::string::npos;
  });
}
static bool isOrtTraining(const ::onnx::ModelProto &model) {
  return hasRuntimeOp(model, "Accumulator");
}
static bool isOrtOptimizer(const ::onnx::ModelProto &model) {
  return hasRuntimeOp(model, "Optimizer");
}

/// Sets the flags that the number `options` denotes. One number in four generates native code.
static void setFlags(CompilerOptions &flags, uint64_t options, const std::string &output) {
  Random random(options);
  flags.planOnly = !random.oneIn(4);
  flags.output = flags.planOnly ? "" : output;
  flags.threads = 1;
  flags.phases.place.stage = static_cast<unsigned>(random.below(4));
  flags.phases.place.ranks = 1 + static_cast<unsigned>(random.below(4));
  flags.phases.place.bucketBytes = ByteSize{random.oneIn(4) ? 1 + random.below(4096) : 25'000'000};
  const bool isWhole = options >= kWholeStepOptions;
  if (isWhole) {
    flags.frontendFlags["carry"] = std::string("*=*") + kNext;
    if (random.oneIn(2))
      flags.frontendFlags["zeros"] = "*";
  }
  flags.phases.step.optimizer = std::string(random.oneIn(4) ? "sgd" : "adamw");
  if (random.oneIn(4))
    flags.phases.recognise.lossMean = LossMean::Local;
  flags.phases.import.forwardOnly = random.oneIn(8);
  if (options < kPlainOptions || flags.phases.import.forwardOnly)
    return;
  if (!isWhole) // it has its own types
    flags.phases.precision.stored = wordsOf(Precision{})[random.below(3)].value;
  flags.phases.step.microBatches = 1 + random.below(3);
  flags.phases.step.clipNorm = random.oneIn(2) ? 1.0 : 0.0;
  if (random.oneIn(4))
    flags.phases.step.optimizer = std::string("lamb");
  if (random.oneIn(8))
    flags.phases.plan.memoryBudget = ByteSize{1 + random.below(1 << 22)};
  if (random.oneIn(8))
    flags.phases.place.checkpoint =
        OrAuto<Checkpoint>(random.oneIn(2) ? Checkpoint::Layer : Checkpoint::Sqrt);
}

/// The operators of ONNX. Those that the compiler supports occur many times.
static Vocabulary makeVocabulary() {
  Vocabulary vocabulary = onnxVocabulary();
  for (int i = 0; i < 4; ++i)
    for (const ops::OpDef &op : ops::allOps())
      vocabulary.operators.push_back(op.type.str());
  return vocabulary;
}

namespace {
class CompilerTarget : public Target {
public:
  const char *summary() const override {
    return "Mutates ONNX models and MLIR and compiles them, from import to emit.";
  }

  void addSeed(const Case &seed) override {
    if (seed.extension == "mlir")
      return texts.push_back(seed);
    ::onnx::ModelProto model;
    if (!model.ParseFromString(seed.bytes)) {
      llvm::errs() << "a seed is no ONNX model\n";
      std::exit(2);
    }
    if (isOrtTraining(model))
      ortTraining = seed.bytes;
    if (isOrtOptimizer(model)) {
      ortOptimizer = seed.bytes;
      return optimizers.push_back(std::move(model));
    }
    shrinkWeights(model, kWeights);
    bindSymbols(model);
    (isKnown(model) ? models : foreign).push_back(std::move(model));
  }

  Case mutate(Random &random) override {
    uint64_t options = random.below(kWholeStepOptions);
    if (!texts.empty() && (models.empty() || random.oneIn(8))) {
      Case made = random.pick(texts);
      const bool isBytecode = made.bytes.starts_with(kBytecode);
      isBytecode ? mutateBytes(made.bytes, random) : mutateText(made.bytes, random);
      return {made.bytes, "mlir", options};
    }
    if (!optimizers.empty() && random.oneIn(32)) {
      ::onnx::ModelProto optimizer = random.pick(optimizers);
      mutateModel(optimizer, random.pick(optimizers), vocabulary, random);
      return {optimizer.SerializePartialAsString(), "onnx", options};
    }
    // Models that are rejected immediately find little.
    const bool isForeign = models.empty() || (!foreign.empty() && random.oneIn(16));
    ::onnx::ModelProto model = random.pick(isForeign ? foreign : models);
    if (isWholeStep(model))
      options += kWholeStepOptions;
    const bool asBytes = random.oneIn(8);
    if (!asBytes)
      mutateModel(model, random.pick(isForeign ? foreign : models), vocabulary, random);
    Case made{model.SerializePartialAsString(), "onnx", options};
    if (asBytes)
      mutateBytes(made.bytes, random);
    return made;
  }

  /// Creates all targets that a location may name: data, a short file, a link, a pipe, a folder.
  void prepare(const std::string &scratch) override {
    const std::string weights = scratch + "/" + kWeights;
    writeFile(weights, "");
    writeFile(scratch + "/short.bin", "0123456789");
    fs::resize_file(weights, 64 << 20);
    fs::create_symlink(kWeights, scratch + "/link.bin");
    fs::create_directory(scratch + "/folder");
    writeFile(scratch + "/folder/inner.bin", std::string(4096, '\1'));
    if (::mkfifo((scratch + "/pipe").c_str(), 0600) != 0)
      std::exit(2);
    // Prints the stack trace of a crash.
    llvm::sys::PrintStackTraceOnErrorSignal("", /*DisableCrashReporting=*/true);
  }

  Verdict run(const Case &input, const std::string &scratch) override {
    const std::string model = scratch + "/model." + input.extension;
    const std::string output = scratch + "/model.zexe";
    writeFile(model, input.bytes);
    CompilerOptions flags;
    flags.input = model;
    setFlags(flags, input.options, output);
    if (!ortTraining.empty())
      addPartner(flags, input, scratch);
    const bool taken = succeeded(compileModel(flags, llvm::nulls()));
    checkReport(taken, readFile(scratch + "/stderr"));
    if (taken && !flags.planOnly)
      checkExecutable(output);
    else if (fs::exists(output))
      failCase("an executable was left behind");
    return taken ? Verdict::Accepted : Verdict::Refused;
  }

  void reduce(Case &input, const std::function<bool(const Case &)> &keep) override {
    ::onnx::ModelProto model;
    if (input.extension != "onnx" || !model.ParsePartialFromString(input.bytes))
      return Target::reduce(input, keep);
    auto keepModel = [&](const ::onnx::ModelProto &smaller) {
      Case made{smaller.SerializePartialAsString(), input.extension, input.options};
      const bool kept = keep(made);
      if (kept)
        input = made;
      return kept;
    };
    bypassNodes(model, keepModel);
    dropElements(model, keepModel);
  }

private:
  /// Artifacts of onnxruntime-training are two models, one of which is mutated.
  void addPartner(CompilerOptions &flags, const Case &input, const std::string &scratch) {
    ::onnx::ModelProto model;
    if (input.extension != "onnx" || !model.ParsePartialFromString(input.bytes))
      return;
    const std::string partner = scratch + "/partner.onnx";
    if (isOrtOptimizer(model)) {
      writeFile(partner, ortTraining);
      flags.frontendFlags["ort-optimizer"] = flags.input;
      flags.input = partner;
    } else if (isOrtTraining(model)) {
      writeFile(partner, ortOptimizer);
      flags.frontendFlags["ort-optimizer"] = partner;
    }
  }

  using Keep = std::function<bool(const ::onnx::ModelProto &)>;

  /// An error has a message, and an accepted model has none.
  static void checkReport(bool taken, const std::string &report) {
    const bool complains = report.find("error: ") != std::string::npos;
    if (taken && complains)
      failCase("accepted with an error");
    if (!taken && !complains)
      failCase("refused without an error");
  }

  /// The runtime accepts each executable that the compiler writes.
  static void checkExecutable(const std::string &path) {
    rt::Executable executable;
    std::string error = rt::readExecutable(path, executable);
    if (error.empty())
      error = rt::validate(executable).getMessage();
    fs::remove(path);
    if (!error.empty())
      failCase("the runtime refuses the executable: " + error);
  }

  /// Removes nodes. Their users read an operand of the node in place of its result.
  static void bypassNodes(::onnx::ModelProto &model, const Keep &keep) {
    for (int i = model.graph().node_size() - 1; i >= 0; --i) {
      ::onnx::ModelProto smaller = model;
      ::onnx::GraphProto &graph = *smaller.mutable_graph();
      const ::onnx::NodeProto node = graph.node(i);
      graph.mutable_node()->DeleteSubrange(i, 1);
      if (node.input_size() != 0 && node.output_size() != 0)
        rename(graph, node.output(0), node.input(0));
      if (keep(smaller))
        model = smaller;
    }
  }

  static void rename(::onnx::GraphProto &graph, const std::string &from, const std::string &to) {
    for (::onnx::NodeProto &node : *graph.mutable_node())
      for (std::string &input : *node.mutable_input())
        input = input == from ? to : input;
    for (::onnx::ValueInfoProto &output : *graph.mutable_output())
      if (output.name() == from)
        output.set_name(to);
  }

  /// Drops elements of every repeated field, several at a time if that succeeds.
  static void dropElements(::onnx::ModelProto &model, const Keep &keep) {
    for (size_t list = 0;; ++list) {
      int size = sizeOfList(model, list);
      if (size < 0)
        return;
      for (int length = size; length > 0; length /= 2)
        for (int at = 0; at + length <= size;) {
          ::onnx::ModelProto smaller = model;
          drop(smaller, list, at, length);
          if (!keep(smaller)) {
            at += length;
            continue;
          }
          model = smaller;
          size -= length;
        }
    }
  }

  /// Calls `visit` with repeated field number `list` of `model`.
  static void atList(::onnx::ModelProto &model, size_t list,
                     const std::function<void(Message &, const FieldDescriptor *)> &visit) {
    size_t at = 0;
    forEachList(model, [&](Message &message, const FieldDescriptor *field) {
      if (at++ == list)
        visit(message, field);
    });
  }

  static int sizeOfList(::onnx::ModelProto &model, size_t list) {
    int size = -1;
    atList(model, list, [&](Message &message, const FieldDescriptor *field) {
      size = message.GetReflection()->FieldSize(message, field);
    });
    return size;
  }

  static void drop(::onnx::ModelProto &model, size_t list, int at, int length) {
    atList(model, list, [&](Message &message, const FieldDescriptor *field) {
      const auto *reflection = message.GetReflection();
      const int size = reflection->FieldSize(message, field);
      for (int i = at; i + length < size; ++i)
        reflection->SwapElements(&message, field, i, i + length);
      for (int i = 0; i < length; ++i)
        reflection->RemoveLast(&message, field);
    });
  }

  /// Gives inputs static shapes, because a case has no --shape.
  static void bindSymbols(::onnx::ModelProto &model) {
    for (::onnx::ValueInfoProto &input : *model.mutable_graph()->mutable_input())
      for (auto &dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (!dim.has_dim_value())
          dim.set_dim_value(2);
  }

  /// Whether the compiler supports all operators of `model`.
  static bool isKnown(const ::onnx::ModelProto &model) {
    for (const ::onnx::NodeProto &node : model.graph().node())
      if (node.op_type() != "Constant" &&
          !ops::lookup(node.domain(), node.op_type(), model.opset_import(0).version()))
        return false;
    return true;
  }

  Vocabulary vocabulary = makeVocabulary();
  std::vector<::onnx::ModelProto> models, foreign, optimizers;
  std::string ortTraining, ortOptimizer; ///< seeds, as files
  std::vector<Case> texts;
};
} // namespace

} // namespace zero::fuzz

int main(int argc, char **argv) {
  zero::fuzz::CompilerTarget target;
  return zero::fuzz::runFuzzer(target, argc, argv);
}
