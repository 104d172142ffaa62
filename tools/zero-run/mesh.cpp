//===- mesh.cpp - the mesh of a program's ranks ---------------------------===//

#include "mesh.h"

#include "runtime/support/status.h"

using namespace zero::rt;

namespace zero::run {

zero_rt_mesh meshOf(const Executable &executable) {
  zero_rt_mesh mesh{};
  (void)take(zero_rt_executable_mesh(executable.get(), &mesh));
  return mesh;
}

zero_rt_axis axisOf(const Executable &executable, size_t index) {
  zero_rt_axis axis{};
  (void)take(zero_rt_executable_axis(executable.get(), index, &axis));
  return axis;
}

zero_rt_volume volumeOf(const Executable &executable, size_t index) {
  zero_rt_volume volume{};
  (void)take(zero_rt_executable_volume(executable.get(), index, &volume));
  return volume;
}

std::string axesText(const Executable &executable, const zero_rt_volume &volume) {
  std::string text;
  for (size_t i = 0; i < volume.axes; ++i)
    text += (text.empty() ? "" : ",") + escape(axisOf(executable, volume.indices[i]).name);
  return text;
}

std::string meshText(const Executable &executable) {
  const zero_rt_mesh mesh = meshOf(executable);
  std::string text;
  for (size_t i = 0; i < mesh.axes; ++i) {
    const zero_rt_axis axis = axisOf(executable, i);
    text += format("%s%s=%d", text.empty() ? "mesh: " : ",", escape(axis.name).c_str(), axis.size);
  }
  text += "\n";
  for (size_t i = 0; i < mesh.volumes; ++i) {
    const zero_rt_volume volume = volumeOf(executable, i);
    text += format("  %-16s %10llu elements received per rank and step\n",
                   axesText(executable, volume).c_str(),
                   static_cast<unsigned long long>(volume.planned_elements));
  }
  return text;
}

} // namespace zero::run
