//===- load_plan.cpp - plan the load of a checkpoint ----------------------===//

#include "runtime/checkpoint/load_plan.h"

#include "runtime/checkpoint/manifest.h"
#include "runtime/support/floats.h"
#include "runtime/support/problems.h"

#include <algorithm>
#include <map>
#include <set>

namespace zero::rt {

using Saved = proto::Manifest::Tensor;

/// More than the columns of a large tensor on many ranks are: a bound for bad manifests.
static constexpr size_t kMostRuns = size_t(1) << 24;

/// Elements of a tensor, row-major: `run` of them from `first` on, the next run `stride` further
/// on, and so forth.
struct Strided {
  uint64_t first, run, stride;

  uint64_t at(uint64_t i) const { return first + i / run * stride + i % run; }
  uint64_t runFrom(uint64_t i) const { return run == stride ? ~uint64_t(0) : run - i % run; }
};

/// [begin, end), for messages.
static std::string elementsText(uint64_t begin, uint64_t end) {
  return format("elements %llu to %llu", static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(end - 1));
}

/// The codes of a tensor of the checkpoint.
static Codes codesOf(const Saved &saved, const proto::Manifest &manifest) {
  if (!saved.has_blocks())
    return {};
  const auto &numbers = manifest.tables(int(saved.blocks().table())).numbers();
  return {saved.blocks().bits(), saved.blocks().size(), {numbers.begin(), numbers.end()}};
}

/// `codes` of 8 bits, or the type of what has none, for messages.
static std::string storedText(const Codes &codes, DType dtype) {
  return codes.any() ? std::to_string(codes.bits) + "-bit codes" : nameOf(dtype);
}

namespace {
class Planner {
public:
  Planner(const proto::Program &program, const proto::Manifest &manifest, bool verbose)
      : program(program), manifest(manifest), problems(verbose), initial(verbose), late(verbose),
        unused(verbose), converted(verbose) {}

  Status run(LoadPlan &plan);

private:
  void take(const StateTensor &tensor, const Saved &saved);
  bool fits(const StateTensor &tensor, const Saved &saved);
  bool findRuns(const StateTensor &tensor, const Saved &saved, std::vector<SavedRun> &runs);
  bool order(const StateTensor &tensor, std::vector<SavedRun> &runs);
  void addReads(const StateTensor &tensor, DType stored, const std::vector<SavedRun> &runs);
  bool isStoredOtherwise(const StateTensor &tensor, const Saved &saved) const;
  void convert(const StateTensor &tensor, const Saved &saved);
  bool findAll(const Saved &saved, std::vector<SavedRun> &runs);
  std::optional<size_t> findSource(const Saved &own);
  bool findScales(const Saved &own, SavedSource &source);
  void convertFrozen(const StateTensor &tensor, const Saved &own);
  void skipScales(const proto::Tensor &tensor, const Saved &own);
  void addConverts(const StateTensor &tensor, size_t source);
  bool findScales(const StateTensor &tensor, size_t block, int rank, RangeConvert &range) const;
  const StateTensor *findState(const std::string &name) const;
  void begin(const StateTensor &tensor);
  void leave(const Saved &saved);
  std::string otherSettings() const;
  void remarkOn();

  const proto::Program &program;
  const proto::Manifest &manifest;
  std::vector<StateTensor> state;
  std::map<std::string, const Saved *> saved;
  std::set<std::string> trained; ///< parameters
  std::set<std::string>
      converts; ///< scales of the program, and of the checkpoint, with their codes
  LoadPlan made;
  Problems problems, initial, late, unused, converted;
};
} // namespace

bool Planner::fits(const StateTensor &tensor, const Saved &saved) {
  const DType dtype = tensor.dtype(), stored = toDType(saved.dtype());
  auto shape = shapeOf(saved.shape());
  std::string what;
  if (!std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()))
    what = "expected " + shapeText(tensor.shape) + ", got " + shapeText(shape);
  else if (!isConvertible(stored, dtype))
    what = std::string("expected ") + nameOf(dtype) + ", got " + nameOf(stored);
  if (what.empty() && stored != dtype && !tensor.derived)
    converted.add("converted",
                  quoted(tensor.name) + " (" + nameOf(stored) + " to " + nameOf(dtype) + ")");
  if (!what.empty())
    problems.add("of another shape or type", quoted(tensor.name) + " (" + what + ")");
  return what.empty();
}

/// The runs of all ranges of `saved`, which may be columns of the tensor.
bool Planner::findRuns(const StateTensor &tensor, const Saved &saved, std::vector<SavedRun> &runs) {
  const uint64_t size = sizeOf(toDType(saved.dtype()));
  auto add = [&](const proto::Manifest::Range &range, const auto &list) {
    for (uint64_t done = 0; done < range.count() && runs.size() <= kMostRuns;) {
      const uint64_t at = range.begin() + done;
      const uint64_t count = std::min(list.runFrom(at), range.count() - done);
      runs.push_back({list.at(at), count, range.file(), range.offset() + done * size});
      done += count;
    }
  };
  for (const proto::Manifest::Range &range : saved.ranges())
    if (range.cuts_size() > 0)
      add(range, Selection(tensor.shape, cutsOf(range)));
    else if (range.run() > 0)
      add(range, Strided{range.first(), range.run(), range.stride()});
    else
      add(range, Strided{0, tensor.elements, tensor.elements});
  if (runs.size() > kMostRuns)
    problems.add("saved in too many pieces", quoted(tensor.name));
  return runs.size() <= kMostRuns;
}

/// Sorts the runs of a tensor, which must be all of it, each element once.
bool Planner::order(const StateTensor &tensor, std::vector<SavedRun> &runs) {
  std::sort(runs.begin(), runs.end(),
            [](const auto &left, const auto &right) { return left.begin < right.begin; });
  uint64_t end = 0; // end of the elements that are covered from the start
  size_t next = 0;
  for (; next < runs.size() && runs[next].begin == end; ++next)
    end += runs[next].count;
  const uint64_t begin = next < runs.size() ? runs[next].begin : tensor.elements;
  if (begin < end)
    problems.add("saved twice in part",
                 quoted(tensor.name) + " (" + elementsText(begin, end) + ")");
  else if (end < begin)
    problems.add("saved only in part",
                 quoted(tensor.name) + " (without " + elementsText(end, begin) + ")");
  return begin == end;
}

/// Adds the reads of each rank's part of `tensor`, by contiguous runs.
void Planner::addReads(const StateTensor &tensor, DType stored, const std::vector<SavedRun> &runs) {
  auto add = [&](const Block &block, int rank, const Part &part) {
    auto run =
        std::upper_bound(runs.begin(), runs.end(), part.inTensor,
                         [](uint64_t at, auto &each) { return at < each.begin + each.count; });
    for (uint64_t done = 0; done < part.count; ++run) {
      const uint64_t skip = part.inTensor + done - run->begin;
      const uint64_t count = std::min(run->count - skip, part.count - done);
      made.ranks[size_t(rank)].push_back({run->file, run->offset + skip * sizeOf(stored), stored,
                                          tensor.dtype(), count, block.buffer->tier(),
                                          tensor.place(block, rank, part.inBuffer + done)});
      done += count;
    }
    return Status();
  };
  for (const Block &block : tensor.blocks)
    for (int rank = 0; rank < int(made.ranks.size()); ++rank)
      (void)forEachPart(block, rank, [&](const Part &part) { return add(block, rank, part); });
}

void Planner::take(const StateTensor &tensor, const Saved &saved) {
  std::vector<SavedRun> runs;
  if (fits(tensor, saved) && findRuns(tensor, saved, runs) && order(tensor, runs))
    addReads(tensor, toDType(saved.dtype()), runs);
}

bool Planner::isStoredOtherwise(const StateTensor &tensor, const Saved &saved) const {
  return codesOf(*tensor.tensor) != codesOf(saved, manifest);
}

const StateTensor *Planner::findState(const std::string &name) const {
  auto found = std::find_if(state.begin(), state.end(),
                            [&](const StateTensor &each) { return each.name == name; });
  return found == state.end() ? nullptr : &*found;
}

/// All runs of a saved tensor in their order.
bool Planner::findAll(const Saved &saved, std::vector<SavedRun> &runs) {
  StateTensor as;
  as.name = saved.name();
  auto shape = shapeOf(saved.shape());
  as.shape.assign(shape.begin(), shape.end());
  as.elements = elementsOf(saved.shape());
  return findRuns(as, saved, runs) && order(as, runs);
}

/// A tensor whose codes differ from those in the checkpoint, or that has codes only here or there.
void Planner::convert(const StateTensor &tensor, const Saved &own) {
  SavedSource source;
  source.dtype = toDType(own.dtype());
  source.codes = codesOf(own, manifest);
  const Codes &codes = made.codes.emplace_back(codesOf(*tensor.tensor));
  const auto scales = saved.find(own.blocks().scales());
  const uint64_t elements = tensor.elements * codes.perByte();
  if (elementsOf(own.shape()) * source.codes.perByte() != elements ||
      (!source.codes.any() && !isConvertible(source.dtype, ZERO_RT_F32)) ||
      (!codes.any() && !isConvertible(ZERO_RT_F32, tensor.dtype())) ||
      (source.codes.any() && (scales == saved.end() || scales->second->dtype() != proto::F32 ||
                              elementsOf(scales->second->shape()) * source.codes.size != elements)))
    return problems.add("of another shape or type",
                        quoted(tensor.name) + " (expected " + storedText(codes, tensor.dtype()) +
                            ", got " + storedText(source.codes, source.dtype) + ")");
  if (!findAll(own, source.values) ||
      (source.codes.any() && !findAll(*scales->second, source.scales)))
    return;
  converted.add("converted", quoted(tensor.name) + " (" + storedText(source.codes, source.dtype) +
                                 " to " + storedText(codes, tensor.dtype()) + ")");
  source.elements = elements;
  made.sources.push_back(std::move(source));
  addConverts(tensor, made.sources.size() - 1);
}

/// The scales of a saved parameter. Those of its scales are no codes.
bool Planner::findScales(const Saved &own, SavedSource &source) {
  const auto found = saved.find(own.blocks().scales());
  if (found == saved.end())
    return false;
  const Saved &scales = *found->second;
  const uint64_t blocks = source.codes.blocksOf(source.elements);
  if (scales.has_blocks()) {
    source.codedScales = own.of().empty() ? findSource(scales) : std::nullopt;
    return source.codedScales && made.sources[*source.codedScales].elements == blocks;
  }
  const uint64_t count = elementsOf(scales.shape());
  source.hasMean = count == blocks + 1;
  return scales.dtype() == proto::F32 && (count == blocks || source.hasMean) &&
         findAll(scales, source.scales);
}

/// Adds the source of all elements of a saved parameter.
std::optional<size_t> Planner::findSource(const Saved &own) {
  SavedSource source;
  source.dtype = toDType(own.dtype());
  source.codes = codesOf(own, manifest);
  source.elements = elementsOf(source.codes.any() ? own.blocks().shape() : own.shape());
  if (!findAll(own, source.values) || (source.codes.any() && !findScales(own, source)))
    return std::nullopt;
  made.sources.push_back(std::move(source));
  return made.sources.size() - 1;
}

/// A frozen parameter that has codes only here or there, or others.
void Planner::convertFrozen(const StateTensor &tensor, const Saved &own) {
  const Codes codes = codesOf(*tensor.tensor), theirs = codesOf(own, manifest);
  const ValueType value = valueTypeOf(*tensor.tensor);
  const auto shape = shapeOf(theirs.any() ? own.blocks().shape() : own.shape());
  const DType stored = toDType(theirs.any() ? own.blocks().dtype() : own.dtype());
  const std::string change = quoted(tensor.name) + " (" + storedText(theirs, stored) + " to " +
                             storedText(codes, value.dtype) + ")";
  const bool fits = isConvertible(stored, ZERO_RT_F32) &&
                    std::equal(shape.begin(), shape.end(), value.shape.begin(), value.shape.end());
  const std::optional<size_t> source = fits ? findSource(own) : std::nullopt;
  if (!source)
    return problems.add("of another shape or type", change);
  converted.add("converted", change);
  if (codes.any())
    return made.encodes.push_back({*source, tensor.tensor});
  made.codes.emplace_back();
  addConverts(tensor, *source);
}

/// Scales of what is converted are neither taken nor missed. They have at most scales of their own.
void Planner::skipScales(const proto::Tensor &tensor, const Saved &own) {
  std::string here = tensor.blocks().scales(), there = own.blocks().scales();
  for (int depth = 0; depth < 2; ++depth) {
    converts.insert({here, there});
    const StateTensor *scales = findState(here);
    here = scales ? scales->tensor->blocks().scales() : "";
    const auto theirs = saved.find(there);
    there = theirs == saved.end() ? "" : theirs->second->blocks().scales();
  }
}

/// The parts of each rank. Those of codes are whole blocks, whose scales the rank has, too.
void Planner::addConverts(const StateTensor &tensor, size_t source) {
  const Codes &codes = made.codes.back();
  for (size_t block = 0; block < tensor.blocks.size(); ++block)
    for (int rank = 0; rank < int(made.ranks.size()); ++rank) {
      const Block &own = tensor.blocks[block];
      (void)forEachPart(own, rank, [&](const Part &part) {
        RangeConvert range{source,
                           part.inTensor * codes.perByte(),
                           part.count * codes.perByte(),
                           tensor.dtype(),
                           codes.any() ? &codes : nullptr,
                           own.buffer->tier(),
                           tensor.place(own, rank, part.inBuffer)};
        if (!codes.any() || findScales(tensor, block, rank, range))
          made.converts[size_t(rank)].push_back(range);
        else
          problems.add("in parts of blocks", quoted(tensor.name));
        return Status();
      });
    }
}

/// Sets the place of the scales of `range`, which the rank must have, too.
bool Planner::findScales(const StateTensor &tensor, size_t block, int rank,
                         RangeConvert &range) const {
  const uint64_t size = range.codes->size, first = range.begin / size, count = range.count / size;
  const StateTensor *scales = findState(tensor.tensor->blocks().scales());
  if (!scales || block >= scales->blocks.size() || range.begin % size != 0 ||
      range.count % size != 0)
    return false;
  bool found = false;
  const Block &theirs = scales->blocks[block];
  (void)forEachPart(theirs, rank, [&](const Part &part) {
    if (part.inTensor <= first && first + count <= part.inTensor + part.count) {
      found = true;
      range.scalesTier = theirs.buffer->tier();
      range.scalesPlace = scales->place(theirs, rank, part.inBuffer + first - part.inTensor);
    }
    return Status();
  });
  return found;
}

/// A tensor that the checkpoint does not have.
void Planner::begin(const StateTensor &tensor) {
  if (tensor.derived)
    return; // its master says so
  const proto::Tensor &of = *tensor.tensor;
  // The loss scale belongs to a precision; earlier versions left out constants.
  if (isLossScale(tensor.name) || (of.role() == proto::CONSTANT && !of.init().required())) {
    initial.add("not saved, set to their initial values", quoted(tensor.name));
    return;
  }
  if (!of.has_late()) {
    problems.add("missing", quoted(tensor.name));
    return;
  }
  late.add("not saved, set as after so many steps", quoted(tensor.name));
  if (manifest.step() == 0)
    return; // the initial value
  const double value = of.late().counts_steps() ? double(manifest.step()) : of.late().value();
  for (const Block &block : tensor.blocks)
    for (int rank = 0; rank < int(made.fills.size()); ++rank)
      (void)forEachPart(block, rank, [&](const Part &part) {
        made.fills[size_t(rank)].push_back({tensor.dtype(), value, part.count, block.buffer->tier(),
                                            tensor.place(block, rank, part.inBuffer)});
        return Status();
      });
}

/// A tensor that the program has no place for.
void Planner::leave(const Saved &saved) {
  // Another shape of the model may not read a buffer.
  if (saved.role() == proto::CONSTANT)
    unused.add("not used", quoted(saved.name()));
  else if (saved.role() != proto::OPTIMIZER)
    problems.add("that the program does not have", quoted(saved.name()));
  else if (trained.count(saved.of()))
    problems.add("that the optimizer does not keep", quoted(saved.name()));
  else
    unused.add("not used", quoted(saved.name()));
}

/// The options that the numbers depend on and that differ from those of the saved run, as
/// "--clip-norm=1 (saved with 0)". An earlier version did not save them.
std::string Planner::otherSettings() const {
  std::map<std::string, std::string> saved;
  for (const proto::Setting &setting : manifest.settings())
    saved[setting.name()] = setting.value();
  std::string text;
  for (const proto::Setting &setting : program.settings())
    if (auto it = saved.find(setting.name()); it != saved.end() && it->second != setting.value())
      text += format("%s--%s=%s (saved with %s)", text.empty() ? "" : ", ",
                     escape(setting.name()).c_str(), escape(setting.value()).c_str(),
                     it->second.empty() ? "none" : escape(it->second).c_str());
  return text;
}

void Planner::remarkOn() {
  const proto::DType precision = precisionOf(state);
  auto name = [](proto::DType dtype) { return nameOf(toDType(dtype)); };
  if (precision != manifest.precision())
    made.remarks.push_back(
        format("saved in %s, resumed in %s", name(manifest.precision()), name(precision)));
  if (program.optimizer() != manifest.optimizer())
    made.remarks.push_back(format("saved with optimizer '%s', resumed with '%s'",
                                  escape(manifest.optimizer()).c_str(),
                                  escape(program.optimizer()).c_str()));
  if (std::string text = otherSettings(); !text.empty())
    made.remarks.push_back("resumed with other options: " + text);
  for (const Problems *group : {&initial, &late, &unused, &converted})
    if (!group->empty())
      made.remarks.push_back(group->text());
}

Status Planner::run(LoadPlan &plan) {
  ZERO_RT_TRY(listState(program, state));
  made.program = &program;
  made.ranks.resize(program.ranks());
  made.fills.resize(program.ranks());
  made.converts.resize(program.ranks());
  std::map<std::string, const Saved *> left;
  for (const Saved &tensor : manifest.tensors())
    saved[tensor.name()] = left[tensor.name()] = &tensor;
  for (const StateTensor &tensor : state)
    if (auto it = saved.find(tensor.name);
        it != saved.end() && isStoredOtherwise(tensor, *it->second))
      skipScales(*tensor.tensor, *it->second);
  for (const StateTensor &tensor : state) {
    if (tensor.tensor->role() == proto::PARAMETER && !tensor.tensor->frozen())
      trained.insert(tensor.name);
    left.erase(tensor.name);
    auto it = saved.find(tensor.name);
    if (converts.count(tensor.name))
      continue;
    if (it == saved.end())
      begin(tensor);
    else if (isStoredOtherwise(tensor, *it->second) && tensor.tensor->frozen())
      convertFrozen(tensor, *it->second);
    else if (isStoredOtherwise(tensor, *it->second))
      convert(tensor, *it->second);
    else
      take(tensor, *it->second);
  }
  for (const std::string &scales : converts)
    left.erase(scales);
  for (const auto &[name, tensor] : left)
    leave(*tensor);
  if (!problems.empty())
    return Status(ZERO_RT_BAD_DATA, problems.text());
  remarkOn();
  plan = std::move(made);
  return {};
}

std::vector<uint32_t> filesOf(const LoadPlan &plan, int first, int ranks) {
  std::set<uint32_t> files;
  for (int rank = first; rank < first + ranks; ++rank)
    for (const RangeRead &range : plan.ranks[size_t(rank)])
      files.insert(range.file);
  auto add = [&](auto &&self, const SavedSource &source) -> void {
    for (const auto *runs : {&source.values, &source.scales})
      for (const SavedRun &run : *runs)
        files.insert(run.file);
    if (source.codedScales)
      self(self, plan.sources[*source.codedScales]);
  };
  for (int rank = first; rank < first + ranks; ++rank)
    for (const RangeConvert &range : plan.converts[size_t(rank)])
      add(add, plan.sources[range.source]);
  for (const EncodedLoad &load : plan.encodes)
    add(add, plan.sources[load.source]);
  return {files.begin(), files.end()};
}

Status planLoad(const proto::Program &program, const proto::Manifest &manifest, LoadPlan &plan,
                bool verbose) {
  return Planner(program, manifest, verbose).run(plan);
}

} // namespace zero::rt
