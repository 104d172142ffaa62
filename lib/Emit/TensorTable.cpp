//===- TensorTable.cpp - state, inputs and outputs of a program -----------===//

#include "TensorTable.h"

#include "dialects/Zero/AdapterAttrs.h"
#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "runtime/format/limits.h"
#include "runtime/support/adapter_names.h"
#include "zero/Analysis/ConstantNames.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Stored/CodeTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

static_assert(kTensorAlignment == rt::kSliceAlignment, "zero-sim computes slices of other ranks");

static proto::Role roleOf(Role role) {
  switch (role) {
  case Role::Parameter:
    return proto::PARAMETER;
  case Role::Optimizer:
    return proto::OPTIMIZER;
  case Role::Constant:
    return proto::CONSTANT;
  case Role::Buffer:
    return proto::BUFFER;
  case Role::Accumulator:
    return proto::GRADIENT;
  }
  llvm_unreachable("all roles handled");
}

template <typename Message>
static void setShape(Message *message, RankedTensorType type) {
  message->set_dtype(dtypeOf(type.getElementType()));
  for (int64_t dim : type.getShape())
    message->add_shape(dim);
}

namespace {

class TableBuilder {
public:
  TableBuilder(ModuleOp module, func::FuncOp step, const Storage &storage, CommandBuilder &commands,
               StringRef dataRoot, proto::Program &program, std::string &data)
      : module(module), symbols(module), step(step), storage(storage), commands(commands),
        dataRoot(dataRoot), program(program), data(data),
        initializers(module->getAttrOfType<DictionaryAttr>(kInitializersAttr)),
        isWholeStep(module->hasAttr(kWholeStepAttr)), mesh(module) {}

  void build() {
    for (auto buffer : module.getOps<BufferOp>())
      addBuffer(buffer.getSymName(), buffer, roleOf(buffer.getRole()), buffer.getTensorType(),
                buffer.getShards());
    for (Operation &op : *module.getBody()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        PartAttr part = partOf(parameter);
        proto::Tensor *tensor = addTensor(parameter, parameter.getTensorType(), proto::PARAMETER,
                                          modelName(parameter), part, shardOf(parameter));
        tensor->set_frozen(parameter.getFrozen());
        tensor->set_of(parameter.getOf().value_or("").str());
        tensor->set_saved(!parameter.getOf());
        tensor->set_in_model(!parameter.getOf());
        if (BlocksAttr blocks = parameter.getBlocksAttr()) {
          StringRef name = parameter.getSymName();
          setBlocks(blocks, name, name, *tensor->mutable_blocks());
          setShape(tensor->mutable_blocks(), parameter.getValueType());
        }
        setAdapter(modelName(parameter), *tensor);
        if (tensor->aliases().empty()) // once, of a tensor in parts
          for (StringRef alias : aliasesOf(parameter))
            tensor->add_aliases(alias.str());
      } else if (auto state = dyn_cast<StateOp>(op)) {
        if (!state.getHome() && storage.symbolRoot(state) < 0)
          continue;
        proto::Tensor *tensor =
            state.getOf() ? addStateOf(symbols.lookup<ParameterOp>(*state.getOf()), state)
                          : addTensor(state, state.getTensorType(), roleOf(state.getRole()),
                                      state.getSymName(), PartAttr());
        // The state of a model with its own update is part of the model.
        const bool isOwn = isWholeStep && state.getRole() == Role::Optimizer;
        // No file of the model has the value of a required tensor: a run that resumes has it from
        // the checkpoint.
        tensor->set_saved(state.getRole() == Role::Buffer || isOwn || state.getRequired() ||
                          isNamedConstant(state));
        tensor->set_in_model(!isOwn || tensor->has_initializer());
        for (StringRef alias : aliasesOf(state))
          tensor->add_aliases(alias.str());
        if (Attribute late = state->getAttr(kLateAttr)) {
          auto value = dyn_cast<FloatAttr>(late);
          tensor->mutable_late()->set_counts_steps(!value);
          tensor->mutable_late()->set_value(value ? value.getValueAsDouble() : 0);
        }
      }
    }
    for (auto constant : step.getBody().getOps<arith::ConstantOp>())
      addConstant(constant);
    setMagnitudes();
    addGradients();
    linkGradients();
  }

private:
  /// Whether `state` is a constant that has a name in the model, so that a file may replace it. A
  /// checkpoint of onnxruntime-training has parameters only.
  bool isNamedConstant(StateOp state) const {
    if (state.getRole() != Role::Constant || !program.ort_checkpoint().empty())
      return false;
    auto kind = state->getAttrOfType<StringAttr>(kExportedAsAttr);
    return kind ? kind.getValue() != "constant" : !isMadeUpName(state.getSymName());
  }

  uint32_t addBuffer(StringRef name, Operation *symbol, proto::Role role, RankedTensorType type,
                     uint32_t shards) {
    proto::Buffer *buffer = program.add_buffers();
    buffer->set_name(name.str());
    buffer->set_role(role);
    buffer->set_dtype(dtypeOf(type.getElementType()));
    buffer->set_elements(type.getNumElements());
    setShards(*buffer, shards);
    if (symbol) {
      const int64_t root = storage.symbolRoot(symbol);
      buffer->set_tier(tierOf(storage.tier({root})));
      buffer->set_offset(commands.rootOffset(root));
      buffer->set_value(commands.numbers().of(symbol));
    }
    buffers[name] = program.buffers_size() - 1;
    return buffers[name];
  }

  /// Slices are those of the data-parallel ranks, or of those of a node.
  void setShards(proto::Buffer &buffer, uint32_t shards) {
    buffer.set_shards(shards);
    for (StringRef axis : mesh.shardAxes(shards))
      buffer.add_shard_axes(mesh.indexOf(axis));
  }

  /// Adds the state `state` of `parameter`. If `parameter` is a part, the state belongs to the full
  /// tensor.
  proto::Tensor *addStateOf(ParameterOp parameter, StateOp state) {
    StringRef of = modelName(parameter);
    std::string suffix = state.getSuffix();
    std::string name = state.getSlot() ? state.getSymName().str() : (of + suffix).str();
    proto::Tensor *tensor =
        addTensor(state, state.getTensorType(), roleOf(state.getRole()), name, partOf(parameter),
                  state->hasAttr(kWholeAttr) ? ShardAttr() : shardOf(parameter));
    tensor->set_of(of.str());
    tensor->set_master(suffix == ("." + kMasterSuffix).str());
    tensor->set_average(!state.getSlot() && suffix == ("." + kAverageSuffix).str());
    if (BlocksAttr blocks = state.getBlocksAttr())
      setBlocks(blocks, of, parameter.getSymName(), *tensor->mutable_blocks());
    return tensor;
  }

  /// The scales are called as the codes are, after the whole tensor `of` where `part` is a part.
  static void setBlocks(BlocksAttr attr, StringRef of, StringRef part,
                        proto::Tensor::Blocks &blocks) {
    blocks.set_bits(attr.getBits());
    blocks.set_size(attr.getSize());
    blocks.set_scales((of + attr.getScales().getValue().drop_front(part.size())).str());
    const stored::CodeTable table(attr.getMap(), attr.getBits());
    blocks.mutable_numbers()->Assign(table.values().begin(), table.values().end());
  }

  /// Adds the tensor that `op` is, called `name` by users. Of a tensor that is cut into
  /// parts the first one adds it, and each is a tile of it.
  template <typename Op>
  proto::Tensor *addTensor(Op op, RankedTensorType type, proto::Role role, StringRef name,
                           PartAttr part, ShardAttr shard = {}) {
    uint32_t buffer =
        op.getHome() ? buffers.lookup(*op.getHome()) : addBuffer(name, op, role, type, 1);
    proto::Tensor *tensor = part ? tiled.lookup(name) : nullptr;
    if (!tensor)
      tensor = addWhole(op, type, role, name, part, shard);
    if (!part) {
      tensor->set_buffer(buffer);
      tensor->set_start(op.getStart().value_or(0));
      return tensor;
    }
    tiled[name] = tensor;
    tensor->set_tile_axis(part.getAxis());
    proto::Tile *tile = tensor->add_tiles();
    tile->set_buffer(buffer);
    tile->set_start(op.getStart().value_or(0));
    tile->set_extent(type.getDimSize(part.getAxis()));
    return tensor;
  }

  /// A tensor of `type`, or one that a part of `type` is of.
  template <typename Op>
  proto::Tensor *addWhole(Op op, RankedTensorType type, proto::Role role, StringRef name,
                          PartAttr part, ShardAttr shard) {
    SmallVector<int64_t> shape(type.getShape());
    if (part) // A state may have less than an element for each of the parameter.
      shape[part.getAxis()] = shape[part.getAxis()] * part.getExtent() / partExtent(op, part);
    if (shard)
      shape[shard.getDim()] *= mesh.sizeOf(GroupAttr::get(module.getContext(), shard.getOver()));
    proto::Tensor *tensor = program.add_tensors();
    tensor->set_name(name.str());
    tensor->set_role(role);
    setShape(tensor, type.clone(shape));
    if (shard)
      setSplit(shard, *tensor->mutable_split());
    if (auto initializer = initializers ? initializers.getAs<StringAttr>(name) : StringAttr())
      tensor->set_initializer(initializer.str());
    if (auto reference = op.getData()) {
      proto::Init::Range *range = tensor->mutable_init()->mutable_file();
      range->set_file(fileIndex(reference->getFile()));
      range->set_offset(reference->getOffset());
      range->set_bytes(reference->getBytes());
      if (Type stored = reference->getStored())
        range->set_stored(dtypeOf(getElementTypeOrSelf(stored)));
      // A matrix of another type than this one is its transpose.
      range->set_transposed(isa_and_present<RankedTensorType>(reference->getStored()));
    } else if (RandomAttr random = op.getRandomAttr()) {
      setRandom(random, *tensor->mutable_init()->mutable_random());
    } else if (op.getRequired()) {
      tensor->mutable_init()->set_required(true);
    } else {
      APFloat splat = op.getSplat().value_or(APFloat(0.0));
      tensor->mutable_init()->set_splat(splat.convertToDouble());
    }
    return tensor;
  }

  /// Describes the adapter of the parameter `name`, if it has one.
  void setAdapter(StringRef name, proto::Tensor &tensor) {
    auto adapters = module->getAttrOfType<DictionaryAttr>(kAdaptersAttr);
    auto about = adapters ? adapters.getAs<DictionaryAttr>(name) : DictionaryAttr();
    if (!about)
      return;
    StringRef of = about.getAs<StringAttr>("module").getValue();
    proto::Tensor::Adapter *adapter = tensor.mutable_adapter();
    adapter->set_first(rt::adapterName(of, rt::kAdapterFirst));
    adapter->set_second(rt::adapterName(of, rt::kAdapterSecond));
    adapter->set_scale(about.getAs<FloatAttr>("scale").getValueAsDouble());
    adapter->set_inputs_first(about.contains("inputs_first"));
    if (about.contains("magnitude"))
      adapter->set_magnitude(rt::adapterName(of, rt::kAdapterMagnitude));
  }

  /// The magnitudes of adapters, their masters and averages begin as norms of what is adapted.
  void setMagnitudes() {
    llvm::StringMap<const proto::Tensor *> adapted;
    for (const proto::Tensor &tensor : program.tensors())
      if (!tensor.adapter().magnitude().empty())
        adapted[tensor.adapter().magnitude()] = &tensor;
    for (proto::Tensor &tensor : *program.mutable_tensors()) {
      const bool isOfMagnitude = tensor.master() || tensor.average();
      const proto::Tensor *of = adapted.lookup(isOfMagnitude ? tensor.of() : tensor.name());
      if (!of)
        continue;
      proto::Init::Norms *norms = tensor.mutable_init()->mutable_norms();
      norms->set_of(of->name());
      norms->set_columns(of->adapter().inputs_first());
    }
  }

  /// The indices that the part of `op`, a parameter or its state, has along the axis of `part`.
  template <typename Op>
  int64_t partExtent(Op op, PartAttr part) const {
    auto parameter = dyn_cast<ParameterOp>(op.getOperation());
    if (auto state = dyn_cast<StateOp>(op.getOperation()))
      parameter = symbols.lookup<ParameterOp>(*state.getOf());
    return parameter.getTensorType().getDimSize(part.getAxis());
  }

  void setSplit(ShardAttr shard, proto::Split &split) {
    split.set_dimension(shard.getDim());
    const auto group = GroupAttr::get(module.getContext(), shard.getOver());
    for (auto [axis, stride] : llvm::enumerate(mesh.stridesIn(group)))
      if (stride != 0)
        split.add_axes(axis);
    for (int64_t part : shard.getParts())
      split.add_parts(part);
  }

  void setRandom(RandomAttr random, proto::Init::Random &init) {
    auto seed = module->getAttrOfType<IntegerAttr>(kSeedAttr);
    init.set_normal(random.getDistribution() == Distribution::Normal);
    init.set_first(random.getFirst().getValueAsDouble());
    init.set_second(random.getSecond().getValueAsDouble());
    init.set_stream(random.getStream());
    init.set_seed(seed ? uint64_t(seed.getInt()) : 0);
  }

  uint32_t fileIndex(StringRef file) {
    auto [it, isNew] = files.try_emplace(file, program.files_size());
    if (isNew) {
      SmallString<128> path(dataRoot);
      llvm::sys::path::append(path, file);
      program.add_files(std::string(path));
    }
    return it->second;
  }

  /// A constant of the step that kernels read: its bytes go to the data section.
  void addConstant(arith::ConstantOp constant) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    int64_t root = storage.place(constant.getResult()).root;
    if (!value || root < 0)
      return;
    auto type = cast<RankedTensorType>(constant.getType());
    std::string name = "constant" + std::to_string(program.buffers_size());
    uint32_t buffer = addBuffer(name, nullptr, proto::CONSTANT, type, 1);
    program.mutable_buffers(buffer)->set_offset(commands.rootOffset(root));
    program.mutable_buffers(buffer)->set_value(commands.numbers().of(constant.getResult()));
    proto::Tensor *tensor = program.add_tensors();
    tensor->set_name(name);
    tensor->set_role(proto::CONSTANT);
    setShape(tensor, type);
    tensor->set_buffer(buffer);
    proto::Init::Range *range = tensor->mutable_init()->mutable_data();
    data.resize(llvm::alignTo(data.size(), 64));
    range->set_offset(data.size());
    appendBytes(value);
    range->set_bytes(data.size() - range->offset());
  }

  void appendBytes(DenseElementsAttr value) {
    if (value.getElementType().isInteger(1)) {
      for (bool bit : value.getValues<bool>())
        data.push_back(bit);
      return;
    }
    ArrayRef<char> raw = value.getRawData();
    int64_t copies = value.isSplat() ? value.getNumElements() : 1;
    for (int64_t i = 0; i < copies; ++i)
      data.append(raw.begin(), raw.end());
  }

  /// The loss scale at the start of the step, or null.
  Value lossScale() {
    for (auto read : step.getBody().getOps<ReadOp>())
      if (read.getSymbol() == kLossScale)
        return read.getResult();
    return {};
  }

  /// What a step keeps for a delayed update, which reads it as `gradient`; null if that is a part
  /// of what the epilogue makes.
  Value keptGradient(Value gradient) {
    auto read = throughViews(gradient).getDefiningOp<ReadOp>();
    WriteOp write = lateWrites.lookup(read.getSymbolAttr().getAttr());
    if (!write)
      return gradient;
    return throughReshapes(gradient) == read ? write.getValue() : Value();
  }

  /// The gradient that `update` reads, at its place between the micro-batches and the epilogue;
  /// null if the update does not wait for that.
  Value gradientOf(LaunchOp update) {
    Value gradient = update.getInputs()[*update.getGradient()];
    if (update->hasAttr(kDelayedAttr))
      gradient = keptGradient(gradient);
    else if (!isIn(update, Segment::Epilogue))
      return {};
    while (gradient) {
      Operation *producer = throughReshapes(gradient).getDefiningOp();
      const bool isCopy = producer && (isa<TransferOp>(producer) || gathers(producer));
      if (!(isCopy || isa_and_nonnull<MemberOp>(producer)) || !isIn(producer, Segment::Epilogue))
        return gradient;
      gradient = producer->getOperand(0);
    }
    return {};
  }

  /// The summed gradients are at the places where the updates read them, of parameters of which all
  /// parts have one.
  void addGradients() {
    Value scale = lossScale();
    // Updates divide the sum of gradients that the model brings; others get those of a mean.
    auto ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr);
    const bool bringsGradients = isWholeStep || module->hasAttr(kOwnGradientsAttr);
    const int64_t summands = bringsGradients ? ranks.getInt() * microBatchesOf(module) : 1;
    for (auto write : step.getBody().getOps<WriteOp>())
      if (isIn(write, Segment::Epilogue))
        lateWrites[write.getSymbolAttr().getAttr()] = write;
    llvm::StringMap<Value> byBucket;
    for (auto launch : step.getBody().getOps<LaunchOp>())
      if (std::optional<StringRef> bucket = launch.getUpdates())
        byBucket[*bucket] = gradientOf(launch);
    llvm::StringSet<> incomplete;
    for (auto parameter : module.getOps<ParameterOp>())
      if (parameter.getHome() && !byBucket.lookup(*parameter.getHome()))
        incomplete.insert(modelName(parameter));
    llvm::StringMap<proto::Gradient *> entries;
    for (auto parameter : module.getOps<ParameterOp>()) {
      Value gradient = parameter.getHome() ? byBucket.lookup(*parameter.getHome()) : Value();
      if (!gradient || incomplete.contains(modelName(parameter)))
        continue;
      proto::Gradient *&entry = entries[modelName(parameter)];
      if (!entry) {
        entry = program.add_gradients();
        entry->set_parameter(modelName(parameter).str());
        if (scale)
          *entry->mutable_scale() = commands.address(scale);
        if (summands > 1)
          entry->set_summands(summands);
      }
      if (partOf(parameter)) {
        proto::Gradient::Tile *tile = entry->add_tiles();
        tile->set_start(*parameter.getStart());
        setGradientBuffer(tile->mutable_buffer(), *parameter.getHome(), gradient);
      } else {
        entry->set_start(*parameter.getStart());
        setGradientBuffer(entry->mutable_buffer(), *parameter.getHome(), gradient);
      }
    }
  }

  /// Sets the place of `gradient`, which belongs to all parameters in bucket `home`.
  void setGradientBuffer(proto::Buffer *buffer, StringRef home, Value gradient) {
    auto type = cast<RankedTensorType>(gradient.getType());
    proto::Address address = commands.address(gradient);
    buffer->set_name((home + ".gradient").str());
    buffer->set_role(proto::GRADIENT);
    buffer->set_dtype(dtypeOf(type.getElementType()));
    buffer->set_elements(type.getNumElements());
    buffer->set_tier(address.tier());
    buffer->set_offset(address.offset());
    *buffer->mutable_rank_strides() = address.rank_strides();
    buffer->set_value(address.start() ? 0 : address.reads());
    // An empty parameter has nothing to shard.
    const int64_t elements = type.getNumElements();
    setShards(*buffer, elements ? bucketElements(home) / elements : 1);
  }

  /// Completes what launches say about the gradients that they read.
  void linkGradients() {
    for (proto::Segment &segment : *program.mutable_segments())
      for (proto::Command &command : *segment.mutable_commands()) {
        if (!command.launch().has_gradient())
          continue;
        proto::Launch::Gradient &gradient = *command.mutable_launch()->mutable_gradient();
        proto::Buffer &buffer = *gradient.mutable_buffer();
        gradient.set_bucket(buffers.lookup(buffer.name()));
        const uint64_t elements = buffer.elements();
        if (buffer.shards() == 0)
          setShards(buffer, elements ? bucketElements(buffer.name()) / elements : 1);
      }
  }

  /// Elements of a bucket over all ranks.
  int64_t bucketElements(StringRef name) {
    const proto::Buffer &buffer = program.buffers(buffers.lookup(name));
    return buffer.elements() * buffer.shards();
  }

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp step;
  const Storage &storage;
  CommandBuilder &commands;
  StringRef dataRoot;
  proto::Program &program;
  std::string &data;
  DictionaryAttr initializers; ///< of tensors with other names in the model
  bool isWholeStep;
  Mesh mesh;
  llvm::DenseMap<StringAttr, WriteOp> lateWrites; ///< of the epilogue, by symbol
  llvm::StringMap<uint32_t> buffers;
  llvm::StringMap<uint32_t> files;
  llvm::StringMap<proto::Tensor *> tiled; ///< by name: those that have tiles
};

} // namespace

void buildTensors(ModuleOp module, func::FuncOp step, const Storage &storage,
                  CommandBuilder &commands, StringRef dataRoot, proto::Program &program,
                  std::string &data) {
  TableBuilder(module, step, storage, commands, dataRoot, program, data).build();
}

static proto::Input::Kind kindOf(StringRef binding) {
  return llvm::StringSwitch<proto::Input::Kind>(binding)
      .Case(kLearningRate, proto::Input::LEARNING_RATE)
      .Case(kStepNumber, proto::Input::STEP)
      .Case(kBatchPart, proto::Input::PART)
      .Case(kTraining, proto::Input::TRAINING)
      .StartsWith(kCoordinatePrefix, proto::Input::COORDINATE)
      .Default(proto::Input::DATA);
}

/// The index of axis `name` in the mesh of `program`.
static uint32_t axisNumber(const proto::Program &program, StringRef name) {
  uint32_t axis = 0;
  while (program.mesh(int(axis)).name() != name)
    ++axis;
  return axis;
}

void buildBindings(func::FuncOp step, CommandBuilder &commands, proto::Program &program) {
  for (BlockArgument argument : step.getArguments()) {
    proto::Input *input = program.add_inputs();
    StringRef name = argumentBinding(step, argument.getArgNumber());
    input->set_name(name.str());
    setShape(input, cast<RankedTensorType>(argument.getType()));
    input->set_offset(commands.address(argument).offset());
    input->set_value(commands.numbers().of(argument));
    input->set_kind(kindOf(name));
    if (name.consume_front(kCoordinatePrefix))
      input->set_axis(axisNumber(program, name));
    input->set_tokens(bool(step.getArgAttr(argument.getArgNumber(), kTokensAttr)));
    if (auto rows = step.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kVocabularyAttr))
      input->set_vocabulary(uint64_t(rows.getInt()));
    if (auto microBatch =
            step.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kMicroBatchAttr))
      input->set_micro_batch(microBatch.getInt());
  }
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    proto::Output *output = program.add_outputs();
    output->set_name(resultBinding(step, index).str());
    setShape(output, cast<RankedTensorType>(value.getType()));
    const proto::Address address = commands.address(value);
    output->set_offset(address.offset());
    output->set_value(address.reads());
    output->set_start(address.start());
  }
}

} // namespace zero
