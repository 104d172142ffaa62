//===- executable.cpp - zero._native: a compiled program ------------------===//

#include "native.h"
#include "zero_rt/mesh.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace zero::python {

Executable::Executable(const std::string &path) {
  const char *text = textOf(path);
  const Call call;
  nb::gil_scoped_release release; // it may be of gigabytes
  check(zero_rt_executable_load(text, &handle));
}

static nb::dict info(const Executable &executable) {
  zero_rt_program_info info;
  check(zero_rt_executable_info(executable.handle, &info));
  nb::dict result;
  result["name"] = info.name;
  result["producer"] = info.producer;
  result["optimizer"] = info.optimizer;
  result["ranks"] = info.ranks;
  result["stage"] = info.stage;
  result["micro_batches"] = info.micro_batches;
  result["threads_per_rank"] = info.threads_per_rank;
  result["learning_rate"] = info.learning_rate;
  result["planned_elements"] = info.planned_elements;
  result["commands"] = info.commands;
  result["device"] = info.device;
  result["nvme_read"] = info.nvme_read;
  result["nvme_written"] = info.nvme_written;
  return result;
}

/// A value as keywords of zero.Value.
static nb::dict describe(const zero_rt_value_info &info) {
  nb::list shape;
  for (size_t i = 0; i < info.dimensions; ++i)
    shape.append(info.shape[i]);
  nb::dict result;
  result["name"] = info.name;
  result["dtype"] = zero_rt_dtype_name(info.dtype);
  result["shape"] = nb::tuple(shape);
  result["role"] = info.role == ZERO_RT_NO_ROLE ? "" : zero_rt_role_name(info.role);
  result["frozen"] = bool(info.frozen);
  result["saved"] = bool(info.saved);
  return result;
}

/// Every value that `get` has, until there is none of that index.
template <typename Get>
static nb::list listValues(const Executable &executable, size_t count, Get get) {
  nb::list result;
  for (size_t i = 0; i < count; ++i) {
    zero_rt_value_info info;
    check(get(executable.handle, i, &info));
    result.append(describe(info));
  }
  return result;
}

static zero_rt_program_info countsOf(const Executable &executable) {
  zero_rt_program_info info;
  check(zero_rt_executable_info(executable.handle, &info));
  return info;
}

static nb::list inputs(const Executable &executable) {
  return listValues(executable, countsOf(executable).inputs, zero_rt_executable_input);
}

static nb::list outputs(const Executable &executable) {
  return listValues(executable, countsOf(executable).outputs, zero_rt_executable_output);
}

static nb::list gradients(const Executable &executable) {
  return listValues(executable, countsOf(executable).gradients, zero_rt_executable_gradient);
}

static nb::list tensors(const Executable &executable) {
  nb::list result = listValues(executable, countsOf(executable).tensors, zero_rt_executable_tensor);
  for (size_t i = 0; i < result.size(); ++i) {
    nb::list aliases;
    for (size_t k = 0; const char *name = zero_rt_executable_alias(executable.handle, i, k); ++k)
      aliases.append(name);
    result[i]["aliases"] = nb::tuple(aliases);
  }
  return result;
}

static nb::dict bytesByRole(const uint64_t (&bytes)[ZERO_RT_ROLES]) {
  nb::dict result;
  for (int role = 1; role < ZERO_RT_ROLES; ++role)
    if (bytes[role] > 0)
      result[zero_rt_role_name(zero_rt_role(role))] = bytes[role];
  return result;
}

static nb::list certificates(const Executable &executable) {
  nb::list result;
  for (size_t i = 0; i < countsOf(executable).certificates; ++i) {
    zero_rt_certificate certificate;
    check(zero_rt_executable_certificate(executable.handle, i, &certificate));
    nb::dict tier;
    tier["tier"] = certificate.tier;
    tier["peak"] = certificate.peak;
    tier["lower_bound"] = certificate.lower_bound;
    tier["peak_at"] = certificate.peak_at;
    tier["most"] = bytesByRole(certificate.most);
    tier["at_peak"] = bytesByRole(certificate.at_peak);
    result.append(tier);
  }
  return result;
}

static zero_rt_mesh meshOf(const Executable &executable) {
  zero_rt_mesh mesh;
  check(zero_rt_executable_mesh(executable.handle, &mesh));
  return mesh;
}

static zero_rt_axis axisOf(const Executable &executable, size_t index) {
  zero_rt_axis axis;
  check(zero_rt_executable_axis(executable.handle, index, &axis));
  return axis;
}

/// The number of ranks along each axis by its name, the outermost first.
static nb::dict mesh(const Executable &executable) {
  nb::dict result;
  for (size_t i = 0; i < meshOf(executable).axes; ++i) {
    const zero_rt_axis axis = axisOf(executable, i);
    result[axis.name] = axis.size;
  }
  return result;
}

/// Elements that a rank receives in a step by plan, by the names of the axes of the groups.
static nb::dict volumes(const Executable &executable) {
  nb::dict result;
  for (size_t i = 0; i < meshOf(executable).volumes; ++i) {
    zero_rt_volume volume;
    check(zero_rt_executable_volume(executable.handle, i, &volume));
    std::string axes;
    for (size_t k = 0; k < volume.axes; ++k)
      axes += (k ? "," : "") + std::string(axisOf(executable, volume.indices[k]).name);
    result[axes.c_str()] = volume.planned_elements;
  }
  return result;
}

/// The compiler's estimate of a step; None without one.
static nb::object plan(const Executable &executable) {
  zero_rt_plan plan;
  zero_rt_status status = zero_rt_executable_plan(executable.handle, &plan);
  if (status.code == ZERO_RT_NOT_FOUND) {
    zero_rt_status_release(&status);
    return nb::none();
  }
  check(status);
  nb::dict lanes, result;
  for (int lane = 0; lane < ZERO_RT_LANES; ++lane)
    if (plan.lanes[lane].seconds > 0)
      lanes[zero_rt_lane_name(zero_rt_lane(lane))] = plan.lanes[lane].seconds;
  result["machine"] = plan.machine;
  result["seconds"] = plan.seconds;
  result["stalled"] = plan.stalled;
  result["lanes"] = lanes;
  return result;
}

/// Paths of the files that initial values are read from.
static nb::list files(const Executable &executable) {
  nb::list result;
  for (size_t i = 0; const char *path = zero_rt_executable_file(executable.handle, i); ++i)
    result.append(path);
  return result;
}

void bindExecutable(nb::module_ &module) {
  nb::class_<Executable>(module, "Executable", "A compiled program: Executable(path).")
      .def(nb::init<const std::string &>(), nb::arg("path"))
      .def("info", info, "Name, ranks, stage and so on, as zero_rt_program_info has them.")
      .def("inputs", inputs, "What a step is given; the shape is that of one rank.")
      .def("outputs", outputs, "What a step returns; the shape is that of one rank.")
      .def("tensors", tensors, "All state; the shape is that of the whole tensor.")
      .def("gradients", gradients, "Parameters whose gradient can be read.")
      .def("certificates", certificates, "Bytes of each tier, on each rank, as planned.")
      .def("mesh", mesh, "The number of ranks along each axis, the outermost first.")
      .def("volumes", volumes, "Elements that a rank receives in a step by plan, by axes.")
      .def("plan", plan, "The expected seconds of a step, and of its lanes; or None.")
      .def("files", files, "Paths of the files that initial values are read from.");
}

} // namespace zero::python
