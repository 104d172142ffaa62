//===- report.cpp - a run as JSON -----------------------------------------===//

#include "report.h"

#include "figures.h"
#include "lanes.h"
#include "mesh.h"
#include "runtime/support/available_memory.h"
#include "tiers.h"

using namespace zero::rt;

namespace zero::run {

static void writeList(JsonWriter &json, const char *name,
                      const std::vector<zero_rt_step_result> &results,
                      double zero_rt_step_result::*field) {
  json.key(name).array([&] {
    for (const zero_rt_step_result &result : results)
      json.value(result.*field);
  });
}

static void writeRoles(JsonWriter &json, const char *name, const uint64_t *bytes) {
  json.key(name).object([&] {
    for (int role = 1; role < ZERO_RT_ROLES; ++role)
      json.member(zero_rt_role_name(static_cast<zero_rt_role>(role)), bytes[role]);
  });
}

static void writeMemory(JsonWriter &json, const Executable &executable) {
  for (size_t i = 0; i < infoOf(executable).certificates; ++i) {
    zero_rt_certificate from;
    if (zero_rt_executable_certificate(executable.get(), i, &from).code != ZERO_RT_OK)
      continue;
    json.key(from.tier).object([&] {
      json.member("peak", from.peak);
      json.member("lower_bound", from.lower_bound);
      json.member("peak_at", from.peak_at);
      writeRoles(json, "most", from.most);
      writeRoles(json, "at_peak", from.at_peak);
    });
  }
}

static void writeArena(JsonWriter &json, const zero_rt_stats &stats, zero_rt_tier tier) {
  json.member("arena_bytes", stats.arena_bytes[tier]);
  json.member("measured_peak", stats.measured_peak[tier]);
  json.member("measured_live", stats.measured_live[tier]);
}

/// What a rank has beside the device, if anything.
static void writeTiers(JsonWriter &json, const zero_rt_program_info &info,
                       const zero_rt_stats &stats) {
  for (zero_rt_tier tier : {ZERO_RT_HOST, ZERO_RT_NVME})
    if (stats.arena_bytes[tier] > 0)
      json.key(tier == ZERO_RT_HOST ? "host" : "nvme").object([&] {
        writeArena(json, stats, tier);
      });
  if (stats.arena_bytes[ZERO_RT_NVME] > 0) {
    json.member("nvme_read", stats.nvme_read);
    json.member("nvme_written", stats.nvme_written);
    json.member("planned_nvme_read", info.nvme_read);
    json.member("planned_nvme_written", info.nvme_written);
  }
  writeLaneMembers(json, stats);
}

/// What the rank has received in the groups of each set of axes, if there is more than one axis.
static void writeVolumes(JsonWriter &json, const Executable &executable,
                         const zero_rt_stats &stats) {
  const zero_rt_mesh mesh = meshOf(executable);
  if (mesh.axes < 2)
    return;
  json.key("received_elements_along").object([&] {
    for (size_t i = 0; i < std::min<size_t>(mesh.volumes, ZERO_RT_VOLUMES); ++i)
      json.member(axesText(executable, volumeOf(executable, i)).c_str(), stats.volume_elements[i]);
  });
}

/// "mesh": {"data": 2, "tensor": 2}, and what is planned along its axes.
static void writeMesh(JsonWriter &json, const Executable &executable) {
  const zero_rt_mesh mesh = meshOf(executable);
  json.key("mesh").object([&] {
    for (size_t i = 0; i < mesh.axes; ++i) {
      const zero_rt_axis axis = axisOf(executable, i);
      json.member(axis.name, axis.size);
    }
  });
  if (mesh.axes < 2)
    return;
  json.key("planned_elements_along").object([&] {
    for (size_t i = 0; i < mesh.volumes; ++i) {
      const zero_rt_volume volume = volumeOf(executable, i);
      json.member(axesText(executable, volume).c_str(), volume.planned_elements);
    }
  });
}

static void writeRanks(JsonWriter &json, const Executable &executable, const Session &session) {
  for (int rank = 0; rank < infoOf(executable).ranks; ++rank) {
    zero_rt_stats stats{};
    if (!take(zero_rt_session_stats(session.get(), rank, &stats)).ok())
      continue; // it is in another process
    json.object([&] {
      writeArena(json, stats, ZERO_RT_DEVICE);
      json.member("received_elements", stats.model_elements);
      json.member("control_elements", stats.control_elements);
      json.member("received_bytes", stats.model_bytes);
      json.member("control_bytes", stats.control_bytes);
      json.member("link_bytes", stats.link_bytes);
      writeVolumes(json, executable, stats);
      writeTiers(json, infoOf(executable), stats);
    });
  }
}

static void writeEvaluation(JsonWriter &json, const Evaluation &result) {
  json.object([&] {
    json.member("step", result.step);
    json.member("eval_loss", double(result.total.loss));
    json.member("batches", result.total.batches);
    json.member("samples", result.total.samples);
    json.member("seconds", double(result.total.seconds));
  });
}

/// What the program is, and how far the run came.
static void writeRun(JsonWriter &json, const zero_rt_program_info &info, const Results &results) {
  json.member("model", info.name);
  json.member("optimizer", info.optimizer);
  json.member("ranks", info.ranks);
  json.member("stage", info.stage);
  json.member("micro_batches", info.micro_batches);
  json.member("first_step", results.first);
  json.member("steps", results.steps.size());
  json.member("planned_elements_per_step", info.planned_elements);
  json.member("interrupted", results.ending == Ending::Signal);
  json.member("ending", nameOf(results.ending));
}

static void writeReport(JsonWriter &json, const Executable &executable, const Session &session,
                        const Results &results) {
  writeRun(json, infoOf(executable), results);
  writeMesh(json, executable);
  json.key("memory").object([&] { writeMemory(json, executable); }, JsonWriter::Lines);
  writePlan(json, executable);
  const RankBytes bytes = rankBytes(executable);
  json.member("memory_bytes_per_rank", bytes.memory);
  if (bytes.disk > 0) {
    json.member("nvme_bytes_per_rank", bytes.disk);
    writeDrive(json.key("nvme"), results.drive);
  }
  json.key("process_memory").object([&] {
    json.member("arenas", results.process.arenas);
    json.member("copies", results.process.copies);
    json.member("beside", results.process.beside);
    json.member("used", ownMemory());
  });
  if (results.saves.count > 0)
    json.key("checkpoints").object([&] {
      json.member("count", results.saves.count);
      json.member("seconds", results.saves.seconds);
    });
  if (!results.mpiBytes.empty())
    json.key("mpi_bytes_per_process").array([&] {
      for (const uint64_t bytes : results.mpiBytes)
        json.value(bytes);
    });
  json.key("per_rank").array([&] { writeRanks(json, executable, session); }, JsonWriter::Lines);
  json.key("evaluations")
      .array(
          [&] {
            for (const Evaluation &result : results.evaluations)
              writeEvaluation(json, result);
          },
          JsonWriter::Lines);
  writeList(json, "losses", results.steps, &zero_rt_step_result::loss);
  Figures(executable).writeLists(json, results.steps);
  writeProfiles(json, results.profiles);
  writeList(json, "seconds", results.steps, &zero_rt_step_result::seconds);
}

std::string reportJson(const Executable &executable, const Session &session,
                       const Results &results) {
  JsonWriter json;
  json.object([&] { writeReport(json, executable, session, results); }, JsonWriter::Lines);
  return json.text() + "\n";
}

} // namespace zero::run
