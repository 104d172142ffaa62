//===- load_plan.cpp - which bytes of a checkpoint go where ---------------===//

#include "runtime/checkpoint/load_plan.h"

#include "runtime/support/floats.h"
#include "runtime/support/problems.h"

#include <map>
#include <set>

namespace zero::rt {

using Saved = proto::Manifest::Tensor;

/// [begin, end), for people.
static std::string elementsText(uint64_t begin, uint64_t end) {
  return format("elements %llu to %llu", static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(end - 1));
}

namespace {
class Planner {
public:
  Planner(const proto::Program &program, const proto::Manifest &manifest)
      : program(program), manifest(manifest) {}

  Status run(LoadPlan &plan);

private:
  void take(const StateTensor &tensor, const Saved &saved);
  bool fits(const StateTensor &tensor, const Saved &saved);
  bool order(const StateTensor &tensor, const Saved &saved,
             std::vector<const proto::Manifest::Range *> &ranges);
  void addReads(const StateTensor &tensor, DType stored,
                const std::vector<const proto::Manifest::Range *> &ranges);
  void leave(const Saved &saved);
  void remarkOn();

  const proto::Program &program;
  const proto::Manifest &manifest;
  std::vector<StateTensor> state;
  std::set<std::string> trained; ///< parameters
  LoadPlan made;
  Problems problems, initial, unused, converted;
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

/// Sorts the ranges of `saved`, which must be all of it, each element once.
bool Planner::order(const StateTensor &tensor, const Saved &saved,
                    std::vector<const proto::Manifest::Range *> &ranges) {
  for (const proto::Manifest::Range &range : saved.ranges())
    if (range.count() > 0)
      ranges.push_back(&range);
  std::sort(ranges.begin(), ranges.end(),
            [](auto *left, auto *right) { return left->begin() < right->begin(); });
  uint64_t end = 0; // of what is covered from the beginning on
  size_t next = 0;
  for (; next < ranges.size() && ranges[next]->begin() == end; ++next)
    end += ranges[next]->count();
  const uint64_t begin = next < ranges.size() ? ranges[next]->begin() : tensor.elements;
  if (begin < end)
    problems.add("saved twice in part",
                 quoted(tensor.name) + " (" + elementsText(begin, end) + ")");
  else if (end < begin)
    problems.add("saved only in part",
                 quoted(tensor.name) + " (without " + elementsText(end, begin) + ")");
  return begin == end;
}

/// What each rank holds of `tensor`, range by range.
void Planner::addReads(const StateTensor &tensor, DType stored,
                       const std::vector<const proto::Manifest::Range *> &ranges) {
  for (size_t rank = 0; rank < made.ranks.size(); ++rank) {
    const Part part = partOf(*tensor.buffer, tensor.tensor->start(), tensor.elements, int(rank));
    auto range =
        std::upper_bound(ranges.begin(), ranges.end(), part.inTensor, [](uint64_t at, auto *each) {
          return at < each->begin() + each->count();
        });
    for (uint64_t done = 0; done < part.count; ++range) {
      const uint64_t skip = part.inTensor + done - (*range)->begin();
      const uint64_t count = std::min((*range)->count() - skip, part.count - done);
      made.ranks[rank].push_back({(*range)->file(), (*range)->offset() + skip * sizeOf(stored),
                                  stored, tensor.dtype(), count,
                                  tensor.place(int(rank), part.inBuffer + done)});
      done += count;
    }
  }
}

void Planner::take(const StateTensor &tensor, const Saved &saved) {
  std::vector<const proto::Manifest::Range *> ranges;
  if (fits(tensor, saved) && order(tensor, saved, ranges))
    addReads(tensor, toDType(saved.dtype()), ranges);
}

/// A tensor that the program has no place for.
void Planner::leave(const Saved &saved) {
  if (saved.role() != proto::OPTIMIZER)
    problems.add("that the program does not have", quoted(saved.name()));
  else if (trained.count(saved.of()))
    problems.add("that the optimizer does not keep", quoted(saved.name()));
  else
    unused.add("not used", quoted(saved.name()));
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
  for (const Problems *group : {&initial, &unused, &converted})
    if (!group->empty())
      made.remarks.push_back(group->text());
}

Status Planner::run(LoadPlan &plan) {
  ZERO_RT_TRY(listState(program, state));
  made.ranks.resize(program.ranks());
  std::map<std::string, const Saved *> saved, left;
  for (const Saved &tensor : manifest.tensors())
    saved[tensor.name()] = left[tensor.name()] = &tensor;
  for (const StateTensor &tensor : state) {
    if (tensor.tensor->role() == proto::PARAMETER && !tensor.tensor->frozen())
      trained.insert(tensor.name);
    left.erase(tensor.name);
    if (auto it = saved.find(tensor.name); it != saved.end())
      take(tensor, *it->second);
    else if (isLossScale(tensor.name))
      initial.add("not saved, as at the start", quoted(tensor.name));
    else if (!tensor.derived) // its master says so
      problems.add("missing", quoted(tensor.name));
  }
  for (const auto &[name, tensor] : left)
    leave(*tensor);
  if (!problems.empty())
    return Status(ZERO_RT_BAD_DATA, problems.text());
  remarkOn();
  plan = std::move(made);
  return {};
}

Status planLoad(const proto::Program &program, const proto::Manifest &manifest, LoadPlan &plan) {
  return Planner(program, manifest).run(plan);
}

} // namespace zero::rt
