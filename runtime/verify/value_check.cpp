//===- value_check.cpp - verify that reads find their values --------------===//

#include "runtime/verify/value_check.h"

#include "runtime/format/tables.h"
#include "runtime/support/checked.h"
#include "runtime/verify/value_trace.h"

#include <list>
#include <set>

namespace zero::rt {

/// Courses that a step may take at a time, of which each predicate that is not known yet
/// doubles the number.
static constexpr size_t kMostCourses = 256;

namespace {
enum class Said : char { Unknown, Clear, Set };
using Predicates = std::vector<Said>;

/// The progress of a step, and the values of its predicates so far.
struct Course {
  ValueTrace trace;
  Predicates predicates;

  bool isSame(const Course &other) const {
    return predicates == other.predicates && trace.isSame(other.trace);
  }
};
using Courses = std::list<Course>;

bool isSame(const Courses &some, const Courses &others) {
  return some.size() == others.size() &&
         std::all_of(some.begin(), some.end(), [&](const Course &course) {
           return std::any_of(others.begin(), others.end(),
                              [&](const Course &other) { return course.isSame(other); });
         });
}

/// Follows all courses of a run in one mode, on one rank.
class Check {
public:
  Check(const proto::Program &program, int rank, const SegmentAccesses &accesses, Mode mode,
        const Predicates &known)
      : program(program), rank(rank), mode(mode) {
    courses.push_back({ValueTrace(program, rank, accesses), known});
    courses.front().trace.begin();
  }

  Status run();

private:
  Status runFinish();
  Status runSegment(int number);
  Status runIteration(int number, uint64_t iteration);
  Status happen(const Moment &moment);
  Status visit(Course &course, const Moment &moment);
  bool runs(Course &course, proto::Command::When when, uint32_t predicate, const Moment &moment);
  void forget(Course &course, const Moment &moment);
  void merge();

  const proto::Program &program;
  int rank;
  Mode mode;
  Courses courses;
};
} // namespace

/// Whether commands with `predicate` run. The first query of a predicate splits the course into
/// two.
bool Check::runs(Course &course, proto::Command::When when, uint32_t predicate,
                 const Moment &moment) {
  const uint64_t iterations = std::max(1u, program.segments(moment.segment).repeat());
  if (!runsInIteration(when, moment.iteration, iterations))
    return false;
  if (predicate == 0)
    return true;
  Said &said = course.predicates[predicate - 1];
  if (said == Said::Unknown) {
    said = Said::Clear;
    courses.push_back(course); // it is processed at this moment, too
    said = Said::Set;
  }
  return said == Said::Set;
}

/// Predicates that the command of `moment` may have written can be anything.
void Check::forget(Course &course, const Moment &moment) {
  for (int i = 0; i < program.predicates_size(); ++i) {
    const RankRange place = rangeOf(course.trace.getMesh(), program.predicates(i), 1, rank);
    for (const Access &access : course.trace.operandsOf(moment))
      if (access.writes && course.trace.contents().common(access.range, place).size() > 0)
        course.predicates[size_t(i)] = Said::Unknown;
  }
}

Status Check::visit(Course &course, const Moment &moment) {
  if (moment.kind == Moment::Inputs) {
    course.trace.writeInputs(moment);
    return {};
  }
  if (moment.kind == Moment::Renames) {
    const proto::Rename &rename = program.segments(moment.segment).renames(moment.index);
    const bool applies = runsIn(mode, /*forward=*/false, rename.delayed()) &&
                         runs(course, rename.when(), rename.predicate(), moment);
    return course.trace.rename(rename, applies, moment);
  }
  const proto::Command &command = program.segments(moment.segment).commands(moment.index);
  if (!runs(course, command.when(), command.predicate(), moment)) {
    course.trace.skip(moment);
    return {};
  }
  if (mode == Mode::Evaluation)
    ZERO_RT_TRY(course.trace.expectNoStateWritten(moment));
  ZERO_RT_TRY(course.trace.readOperands(moment));
  course.trace.writeResults(moment);
  forget(course, moment);
  return {};
}

/// Courses that have come to the same go on as one.
void Check::merge() {
  for (auto it = courses.begin(); it != courses.end(); ++it)
    for (auto other = std::next(it); other != courses.end();)
      other = it->isSame(*other) ? courses.erase(other) : std::next(other);
}

/// Lets `moment`, one rename at most, happen in all courses.
Status Check::happen(const Moment &moment) {
  for (Course &course : courses) // also in those that this adds
    ZERO_RT_TRY(visit(course, moment));
  if (courses.size() > kMostCourses)
    return fail(ZERO_RT_UNSUPPORTED, "%s: more predicates than the check supports",
                courses.front().trace.nameOf(moment).c_str());
  return {};
}

Status Check::runIteration(int number, uint64_t iteration) {
  std::vector<Moment> moments;
  listIteration(program, number, iteration, mode, moments);
  for (Moment &moment : moments)
    if (moment.kind != Moment::Renames)
      ZERO_RT_TRY(happen(moment));
    else
      for (; moment.index < moment.end; ++moment.index)
        ZERO_RT_TRY(happen(moment));
  merge();
  return {};
}

/// All iterations between the first and the last are equal. Once one of them changes nothing, the
/// others do not either.
Status Check::runSegment(int number) {
  const uint64_t iterations = std::max(1u, program.segments(number).repeat());
  for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const Courses before = iteration > 0 && iteration + 2 < iterations ? courses : Courses();
    ZERO_RT_TRY(runIteration(number, iteration));
    if (isSame(before, courses))
      iteration = iterations - 2;
  }
  return {};
}

/// A step is finished in one iteration of the micro-batches.
Status Check::runFinish() {
  for (int number = 0; number < program.segments_size(); ++number)
    if (program.segments(number).kind() == proto::Segment::MICRO_BATCH)
      ZERO_RT_TRY(runIteration(number, /*iteration=*/0));
  for (const Course &course : courses)
    ZERO_RT_TRY(course.trace.end(mode));
  return {};
}

Status Check::run() {
  if (mode == Mode::Finish)
    return runFinish();
  ZERO_RT_TRY(happen({Moment::Inputs, -1}));
  bool finished = false;
  auto finish = [&] {
    for (const Course &course : courses)
      ZERO_RT_TRY(course.trace.finish(mode));
    finished = true;
    return Status();
  };
  for (int number = 0; number < program.segments_size(); ++number) {
    if (program.segments(number).kind() == proto::Segment::EPILOGUE && !finished)
      ZERO_RT_TRY(finish());
    ZERO_RT_TRY(runSegment(number));
  }
  if (!finished)
    ZERO_RT_TRY(finish());
  for (const Course &course : courses)
    ZERO_RT_TRY(course.trace.end(mode));
  return {};
}

//===----------------------------------------------------------------------===//
// Predicates that are constants
//===----------------------------------------------------------------------===//

namespace {
/// A constant of booleans: its place in the arena of the device, and its elements.
struct Booleans {
  uint64_t begin;
  std::span<const uint8_t> elements;
};
} // namespace

static std::vector<Booleans> booleansOf(const proto::Program &program,
                                        std::span<const uint8_t> data) {
  std::vector<Booleans> found;
  for (const proto::Tensor &tensor : program.tensors()) {
    const proto::Init::Range &range = tensor.init().data();
    if (tensor.role() != proto::CONSTANT || tensor.dtype() != proto::I1 ||
        !tensor.init().has_data() || tensor.tiles_size() > 0 || tensor.has_split() ||
        !isWithin(range.offset(), range.bytes(), data.size()))
      continue;
    const proto::Buffer &buffer = program.buffers(int(tensor.buffer()));
    if (buffer.tier() == proto::DEVICE && buffer.shards() == 1 && buffer.rank_strides().empty())
      found.push_back(
          {buffer.offset() + tensor.start(), data.subspan(range.offset(), range.bytes())});
  }
  return found;
}

/// The predicates of all ranks when a step begins, each combination once.
static std::set<Predicates> predicatesOf(const proto::Program &program,
                                         std::span<const uint8_t> data) {
  const std::vector<Booleans> constants = booleansOf(program, data);
  const Mesh mesh = meshOf(program);
  std::set<Predicates> combinations;
  const int ranks = program.predicates_size() > 0 ? int(program.ranks()) : 1;
  for (int rank = 0; rank < ranks; ++rank) {
    Predicates said(size_t(program.predicates_size()), Said::Unknown);
    for (int i = 0; i < program.predicates_size(); ++i) {
      const uint64_t place = rangeOf(mesh, program.predicates(i), 1, rank).begin;
      for (const Booleans &constant : constants)
        if (place >= constant.begin && place - constant.begin < constant.elements.size())
          said[size_t(i)] = constant.elements[place - constant.begin] ? Said::Set : Said::Clear;
    }
    combinations.insert(std::move(said));
  }
  return combinations;
}

Status checkValues(const proto::Program &program, std::span<const uint8_t> data) {
  const int rank = program.ranks() > 1 ? kEveryRank : 0;
  const SegmentAccesses accesses = accessesOf(program, rank);
  for (const Predicates &known : predicatesOf(program, data))
    for (Mode mode : modesOf(program))
      if (Status status = Check(program, rank, accesses, mode, known).run(); !status.ok())
        return Status(ZERO_RT_BAD_FILE, status.getMessage());
  return {};
}

} // namespace zero::rt
