//===- page.cpp - a run as a web page -------------------------------------===//

#include "page.h"

#include "runtime/support/available_memory.h"
#include "runtime/support/checked.h"
#include "runtime/support/clock.h"
#include "runtime/support/file.h"
#include "runtime/support/json_reader.h"
#include "tiers.h"
#include "warnings.h"
#include "zero/Page/Page.h"

#include <fstream>
#include <sstream>

using namespace zero::rt;

namespace zero::run {

static constexpr char kPage[] =
#include "tools/zero-run/page.inc"
    ;

/// Between two pages; also for the browser.
static constexpr std::chrono::seconds kInterval{5};

/// The data of the page at `path`; empty if it has none.
static std::string dataOf(const std::string &path) {
  static constexpr std::string_view kBegin = "id=\"data\">", kEnd = "</script>";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const size_t begin = page.find(kBegin), end = page.find(kEnd, begin);
  return end == page.npos ? "" : page.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

Status RunPage::Content::writeTo(const std::string &path) const {
  OutputFile file;
  ZERO_RT_TRY(OutputFile::create(path, file));
  ZERO_RT_TRY(file.write(fillPage(kPage, embeddable(json()))));
  return file.commit();
}

/// Takes what an earlier page says of the steps before the first one.
void RunPage::Content::read(const std::string &data) {
  JsonObject page;
  if (!JsonObject::parse(data, page) || !curves.read(page, first))
    return;
  for (const std::string_view text : page.findList("evaluations")) {
    uint64_t step;
    double loss;
    JsonReader json(text);
    if (json.take('[') && json.takeInteger(step) && json.take(',') && step <= first &&
        parseReal(text.substr(json.position(), text.size() - json.position() - 1), loss))
      evaluations.emplace_back(step, loss);
  }
}

Status RunPage::open(const std::string &file, const Executable &executable) {
  path = file;
  former = dataOf(path);
  content.executable = &executable;
  return content.writeTo(path);
}

void RunPage::begin(const ProcessMemory &planned, uint64_t first, uint64_t steps) {
  content.planned = planned;
  content.first = content.done = first;
  content.steps = steps;
  content.read(former);
}

void RunPage::addStep(const zero_rt_step_result &result, const Curves::Values &values) {
  content.curves.add(result.step, values);
  content.done = result.step + 1;
  content.seconds += result.seconds;
  if (background.isDone() && std::chrono::steady_clock::now() - written >= kInterval)
    write();
}

void RunPage::addEvaluation(const Evaluation &result) {
  content.evaluations.emplace_back(result.step, double(result.total.loss));
}

/// Begins to write a page. One that cannot be written does not end the run.
void RunPage::write() {
  if (const Status before = background.wait(); !before.ok())
    warn(before.getMessage());
  written = std::chrono::steady_clock::now();
  content.warnings = lastWarnings();
  const Status started = background.start(
      "writing the page", [path = path, copy = content] { return copy.writeTo(path); });
  if (!started.ok())
    warn(started.getMessage());
}

Status RunPage::finish(const Results &results, const Status &status) {
  (void)background.wait(); // this page counts
  content.ending = status.ok() ? nameOf(results.ending) : "failed";
  content.error = status.getMessage();
  content.resume = results.resume;
  content.warnings = lastWarnings();
  return content.writeTo(path);
}

static void writeCertificates(JsonWriter &json, const Executable &executable) {
  json.key("memory").array([&] {
    for (size_t i = 0; i < infoOf(executable).certificates; ++i) {
      zero_rt_certificate tier;
      if (zero_rt_executable_certificate(executable.get(), i, &tier).code == ZERO_RT_OK)
        json.object([&] {
          json.member("tier", tier.tier);
          json.member("peak", tier.peak);
          json.member("at", tier.peak_at);
        });
    }
  });
}

std::string RunPage::Content::json() const {
  const zero_rt_program_info info = infoOf(*executable);
  JsonWriter json(JsonWriter::Compact);
  json.object([&] {
    json.member("model", info.name);
    json.member("optimizer", info.optimizer);
    json.member("ranks", info.ranks);
    json.member("stage", info.stage);
    json.member("written", unixTime());
    json.member("interval", kInterval.count());
    json.member("ending", ending); // empty: the run goes on
    json.member("error", error);
    json.member("resume", resume);
    json.member("first", first);
    json.member("done", done);
    json.member("steps", steps);
    json.member("seconds", seconds);
    writeCertificates(json, *executable);
    json.member("process_planned", planned.total());
    json.member("process_used", ownMemory());
    curves.writeMembers(json);
    json.key("evaluations").array([&] {
      for (const auto &[step, loss] : evaluations)
        json.array([&, step = step, loss = loss] { json.value(step), json.value(loss); });
    });
    json.key("warnings").array([&] {
      for (const Warning &warning : warnings)
        json.array([&] { json.value(warning.time), json.value(warning.text); });
    });
  });
  return json.text();
}

} // namespace zero::run
