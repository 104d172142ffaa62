//===- page_style.h - style of the page of a step ---------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_PAGE_STYLE_H
#define TOOLS_ZERO_SIM_PAGE_STYLE_H

namespace zero::sim {

/// The style of the page of `zeroc --report`, and that of the timeline; made from
/// lib/Report/page/style.css.
extern const char *const kPageStyle;

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_PAGE_STYLE_H
