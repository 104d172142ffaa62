//===- RestoreParameters.cpp - undo exporter folding of parameters --------===//
// The exporter of PyTorch records for each node the call of the module that it was exported from,
// and the operands of the call. So an initializer that a node reads can be identified by its use:
// it is the parameter at this operand of the call, whatever initializer the node reads. The
// optimizer of onnxscript (0.7) transposes the weights of linear layers (folding a Transpose), lets
// equal tensors of up to 1024 elements share one initializer, and drops the biases of products and
// convolutions if they are all zero.
//===----------------------------------------------------------------------===//

#include "RestoreParameters.h"
#include "FxOperands.h"
#include "Graph.h"
#include "Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace zero::importer {

/// Larger initializers are not merged.
static constexpr int64_t kMostMerged = 1024;

namespace {
/// The parameter that the call of a node passes as one of its inputs.
struct Claim {
  enum Kind {
    Unknown, ///< nothing, or another value than a tensor of the module
    Tensor,  ///< it is `name`, in `layout`
    Literal  ///< it is none of the module's tensors
  };
  Kind kind = Unknown;
  std::string name;
  Layout layout = Layout::Same;
};

/// An input of a node that is an initializer.
struct Use {
  pb::NodeProto *node;
  int slot;
  std::string initializer;
  Claim claim;
};

class Restorer {
public:
  explicit Restorer(Model &model)
      : model(model), graph(*model.proto.mutable_graph()), optimized(isOptimized(graph)) {
    for (size_t i = 0; i < model.constants.size(); ++i)
      byName[model.constants[i].first] = i;
    for (const pb::ValueInfoProto &value : graph.value_info())
      if (StringRef text = metadata(value, kFoldedFromKey); !text.empty())
        foldedFrom[value.name()] = quotedWords(text);
  }

  void run() {
    collectUses();
    for (const auto &[initializer, own] : usesOf)
      if (needsSplit(initializer, own))
        split(initializer, own);
    for (const Signature::Entry &entry : model.signature.entries)
      if (auto it = claims.find(entry.name); it != claims.end())
        restore(entry, it->second);
    for (pb::NodeProto &node : *graph.mutable_node())
      addDroppedBias(node);
    if (changed)
      finish();
  }

private:
  Constant *find(StringRef name) {
    auto it = byName.find(name);
    return it == byName.end() ? nullptr : &model.constants[it->second].second;
  }

  //===--------------------------------------------------------------------===//
  // What each use says
  //===--------------------------------------------------------------------===//

  void collectUses() {
    for (pb::NodeProto &node : *graph.mutable_node()) {
      std::optional<FxCall> call = parseCall(node);
      for (int slot = 0; slot < node.input_size(); ++slot)
        if (Constant *constant = find(node.input(slot)); constant && isFloat(constant->type))
          usesOf[node.input(slot)].push_back(
              {&node, slot, node.input(slot), call ? claimOf(*call, node, slot) : Claim()});
    }
  }

  Claim claimOf(const FxCall &call, const pb::NodeProto &node, int slot) const {
    if (std::optional<FxOperand> operand = operandOf(call, node, slot)) {
      StringRef text = operand->text;
      if (!text.consume_front("%"))
        return {Claim::Literal, "", Layout::Same};
      const Signature::Entry *entry = model.signature.find(text);
      return entry ? Claim{Claim::Tensor, entry->name, operand->layout} : Claim();
    }
    // If it is not known which operand this is, the initializer's name is used.
    bool isNamed = false;
    forEachWord(metadata(node, kCallKey), '%', [&](StringRef word) {
      const Signature::Entry *entry = model.signature.find(word);
      isNamed |= entry && entry->name == node.input(slot);
    });
    return isNamed ? Claim{Claim::Tensor, node.input(slot)} : Claim();
  }

  /// Whether some use of `initializer` refers to another tensor than its name says.
  bool needsSplit(StringRef initializer, llvm::ArrayRef<Use> own) const {
    const bool isTensor = !model.signature.kindOf(initializer).empty();
    return llvm::any_of(own, [&](const Use &use) {
      if (use.claim.kind == Claim::Tensor)
        return use.claim.name != initializer || use.claim.layout == Layout::Transposed;
      return isTensor && (use.claim.kind == Claim::Literal ||
                          (own.size() > 1 && isContradiction(initializer, use)));
    });
  }

  /// Whether the call behind `use` has no such operand, though its initializer may be one of
  /// several that were merged.
  bool isContradiction(StringRef initializer, const Use &use) const {
    return optimized && use.claim.kind == Claim::Unknown &&
           !metadata(*use.node, kCallKey).empty() &&
           model.constants[byName.lookup(initializer)].second.elements <= kMostMerged;
  }

  /// Replaces the uses of `initializer` by the tensors that they refer to.
  void split(StringRef initializer, llvm::ArrayRef<Use> own) {
    llvm::StringSet<> owners;
    const StringRef kind = model.signature.kindOf(initializer);
    for (const Use &use : own) {
      std::string owner = use.claim.kind == Claim::Tensor ? use.claim.name : initializer.str();
      if (owner != initializer || use.claim.layout == Layout::Transposed) {
        claims[owner].push_back(use);
      } else if (use.claim.kind == Claim::Literal && !kind.empty()) {
        owner = initializer.str() + "/constant";
        makeConstant(use, owner);
      } else if (use.claim.kind != Claim::Tensor && kind == "parameter") {
        model.signature.lost.push_back("parameter " + quote(initializer) +
                                       " was merged with an equal tensor, read by " +
                                       describe(*use.node));
      }
      owners.insert(owner);
    }
    if (owners.size() > 1)
      shared.insert(initializer);
  }

  /// Constant `name` for a use that no parameter of the module is.
  void makeConstant(const Use &use, const std::string &name) {
    if (!find(name))
      add(name, Constant(*find(use.initializer)));
    use.node->set_input(use.slot, name);
  }

  //===--------------------------------------------------------------------===//
  // What is restored
  //===--------------------------------------------------------------------===//

  size_t add(const std::string &name, Constant constant) {
    byName[name] = model.constants.size();
    model.constants.emplace_back(name, std::move(constant));
    changed = true;
    return model.constants.size() - 1;
  }

  /// Whether `use` is of the tensor itself, in its layout, and of nothing else that was
  /// computed from it.
  bool isPure(const Use &use) {
    const size_t rank = find(use.initializer)->dims.size();
    if (use.claim.layout == Layout::Transposed && rank != 2)
      return false;
    auto it = foldedFrom.find(use.initializer);
    if (it == foldedFrom.end())
      return true;
    llvm::ArrayRef<StringRef> sources = it->second;
    if (use.claim.layout == Layout::Transposed)
      return sources.size() == 1;
    if (use.claim.layout == Layout::Same)
      return !llvm::is_contained(sources, use.claim.name);
    // The shape was computed from constants of the exporter.
    return llvm::count_if(sources, [&](StringRef source) {
             return !model.signature.kindOf(source).empty();
           }) <= 1;
  }

  /// The shape that the tensor has by `use`.
  Dims shapeBy(const Use &use) {
    const Constant &constant = *find(use.initializer);
    if (use.claim.layout == Layout::Vector)
      return {constant.elements};
    Dims dims = constant.dims;
    if (use.claim.layout == Layout::Transposed)
      std::reverse(dims.begin(), dims.end());
    return dims;
  }

  void restore(const Signature::Entry &entry, llvm::ArrayRef<Use> uses) {
    const Constant *own = find(entry.name);
    const Use *source =
        llvm::find_if(uses, [](const Use &use) { return use.claim.layout == Layout::Same; });
    source = source == uses.end() ? uses.begin() : source;
    const Dims dims = own ? own->dims : shapeBy(*source);
    const int32_t type = (own ? own : find(source->initializer))->type;
    for (const Use &use : uses)
      if (!isPure(use) || shapeBy(use) != dims || find(use.initializer)->type != type) {
        if (own)
          model.signature.lost.push_back("parameter " + quote(entry.name) + " was folded into " +
                                         quote(use.initializer) + ", read by " +
                                         describe(*use.node));
        return;
      }
    if (!own)
      addFrom(entry, *source, dims);
    // The model's file then has it more than once, as one with others, or in another shape.
    const bool isAlone = llvm::all_of(uses, [&](const Use &use) {
      return use.initializer == source->initializer && !shared.contains(use.initializer) &&
             use.claim.layout != Layout::Vector;
    });
    find(entry.name)->initializer = isAlone && !own ? source->initializer : "";
    for (const Use &use : uses)
      use.node->set_input(use.slot, viewOf(entry.name, use));
    model.signature.restored += entry.kind == "parameter";
    changed = true;
  }

  void addFrom(const Signature::Entry &entry, const Use &source, const Dims &dims) {
    Constant constant = *find(source.initializer);
    constant.dims = dims;
    constant.transposed = source.claim.layout == Layout::Transposed;
    if (source.claim.layout != Layout::Same)
      constant.value.reset();
    add(entry.name, std::move(constant));
  }

  /// The name of tensor `name` in the layout that `use` has it in.
  std::string viewOf(const std::string &name, const Use &use) {
    if (use.claim.layout == Layout::Same)
      return name;
    const bool isTransposed = use.claim.layout == Layout::Transposed;
    Dims shape = find(use.initializer)->dims;
    std::string view = name + "/" + (isTransposed ? "transposed" : join(shape));
    if (!views.insert(view).second)
      return view;
    pb::NodeProto &node = newNodes.emplace_back();
    node.set_op_type(isTransposed ? "Transpose" : "Reshape");
    node.set_name(view);
    node.add_input(name);
    node.add_output(view);
    if (isTransposed) {
      pb::AttributeProto &permutation = *node.add_attribute();
      permutation.set_name("perm");
      permutation.set_type(pb::AttributeProto::INTS);
      permutation.add_ints(1);
      permutation.add_ints(0);
    } else {
      node.add_input(addShape(view + "/shape", shape));
    }
    return view;
  }

  static std::string join(const Dims &dims) {
    return llvm::join(llvm::map_range(dims, [](int64_t dim) { return std::to_string(dim); }), "x");
  }

  std::string addShape(const std::string &name, const Dims &shape) {
    const auto count = static_cast<int64_t>(shape.size());
    Constant constant;
    constant.type = pb::TensorProto::INT64;
    constant.dims = {count};
    constant.elements = count;
    constant.value = fromInts(constant.dims, {shape.begin(), shape.end()}, constant.type);
    add(name, std::move(constant));
    return name;
  }

  //===--------------------------------------------------------------------===//
  // Dropped biases
  //===--------------------------------------------------------------------===//

  /// The length of the bias that `node` had; 0: not known. A bias of a linear
  /// call may be broadcast: not one of these modules.
  int64_t biasLength(const pb::NodeProto &node) {
    static constexpr StringRef kModules[] = {
        "torch.nn.modules.linear.Linear", "torch.nn.modules.linear.NonDynamicallyQuantizableLinear",
        "torch.nn.modules.activation.MultiheadAttention", "transformers.pytorch_utils.Conv1D"};
    const Constant *weight = find(node.input(1));
    if (!weight || weight->dims.size() < 2)
      return 0;
    auto attribute = [&](StringRef name, int64_t absent) {
      for (const pb::AttributeProto &each : node.attribute())
        if (each.name() == name)
          return each.i();
      return absent;
    };
    if (node.op_type() == "Conv")
      return weight->dims[0];
    if (node.op_type() == "ConvTranspose")
      return weight->dims[1] * attribute("group", 1);
    auto classes = quotedWords(metadata(node, kClassesKey));
    if (classes.size() < 2 || !llvm::is_contained(kModules, classes[classes.size() - 2]))
      return 0;
    return weight->dims[attribute("transB", 0) != 0 ? 0 : 1];
  }

  void addDroppedBias(pb::NodeProto &node) {
    if (!metadata(node, kRewriteRuleKey).contains("RemoveOptionalBias") || node.input_size() < 2 ||
        (node.input_size() > 2 && !node.input(2).empty()))
      return;
    std::optional<FxCall> call = parseCall(node);
    std::optional<FxOperand> operand = call ? operandOf(*call, node, 2) : std::nullopt;
    if (!operand || !operand->text.consume_front("%"))
      return;
    const Signature::Entry *entry = model.signature.find(operand->text);
    if (!entry)
      return;
    if (!find(entry->name)) {
      Constant zeros;
      zeros.elements = biasLength(node);
      if (zeros.elements == 0)
        return;
      zeros.type = find(node.input(1))->type;
      zeros.dims = {zeros.elements};
      zeros.splat = 0;
      add(entry->name, std::move(zeros));
      model.signature.restored += entry->kind == "parameter";
    }
    if (node.input_size() < 3)
      node.add_input();
    node.set_input(2, entry->name);
    changed = true;
  }

  //===--------------------------------------------------------------------===//
  // The model as it was
  //===--------------------------------------------------------------------===//

  /// Constants in the module's order, without unused ones.
  void finish() {
    for (const auto &entry : shared)
      find(entry.first())->initializer = "";
    llvm::StringSet<> read;
    for (const pb::NodeProto &node : graph.node())
      for (const std::string &name : node.input())
        read.insert(name);
    for (const pb::ValueInfoProto &output : graph.output())
      read.insert(output.name());
    std::vector<std::pair<std::string, Constant>> sorted;
    auto take = [&](size_t index) {
      sorted.push_back(std::move(model.constants[index]));
      model.constants[index].first.clear();
    };
    for (const Signature::Entry &entry : model.signature.entries)
      if (auto it = byName.find(entry.name); it != byName.end())
        take(it->second);
    for (size_t i = 0; i < model.constants.size(); ++i)
      if (const std::string &name = model.constants[i].first;
          !name.empty() && (!usesOf.count(name) || read.contains(name)))
        take(i);
    model.constants = std::move(sorted);
    for (pb::NodeProto &node : newNodes)
      *graph.add_node() = std::move(node);
  }

  Model &model;
  pb::GraphProto &graph;
  const bool optimized;
  bool changed = false;
  llvm::StringMap<size_t> byName;                           ///< index into the model's constants
  llvm::StringMap<llvm::SmallVector<StringRef>> foldedFrom; ///< by what it was folded into
  std::map<std::string, std::vector<Use>> usesOf;           ///< by initializer
  std::map<std::string, std::vector<Use>> claims;           ///< by tensor of the module: of others'
  llvm::StringSet<> shared; ///< initializers that several tensors are
  llvm::StringSet<> views;
  std::vector<pb::NodeProto> newNodes;
};
} // namespace

void restoreParameters(Model &model) {
  const pb::GraphProto &graph = model.proto.graph();
  if (!model.signature.entries.empty() &&
      llvm::none_of(graph.node(), [](const pb::NodeProto &node) { return hasSubgraph(node); }))
    Restorer(model).run();
}

} // namespace zero::importer
