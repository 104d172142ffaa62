//===- mesh.h - the mesh of a program's ranks -------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_MESH_H
#define TOOLS_ZERO_RUN_MESH_H

#include "handles.h"
#include "zero_rt/mesh.h"

namespace zero::run {

/// Never fail for a loaded program, and indices that it has.
zero_rt_mesh meshOf(const Executable &executable);
zero_rt_axis axisOf(const Executable &executable, size_t index);
zero_rt_volume volumeOf(const Executable &executable, size_t index);

/// "data", or "data,tensor": the axes of a volume.
std::string axesText(const Executable &executable, const zero_rt_volume &volume);

/// The lines about a mesh of several axes: their sizes, and what a rank receives along them.
std::string meshText(const Executable &executable);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_MESH_H
