//===- Page.h - web pages of reports ----------------------------*- C++ -*-===//
// A page is one file: the frame, style and script of lib/Page, the scripts of a client, and data as
// JSON. zero_page of cmake/Page.cmake makes all but the data. The script writes all that is seen,
// so that text becomes markup in one place.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PAGE_PAGE_H
#define ZERO_PAGE_PAGE_H

#include <string>
#include <string_view>

namespace zero {

/// JSON that a page can contain: '<' could end the element, U+2028 and U+2029 end lines in scripts.
std::string embeddable(std::string_view json);

/// `page` with its data, which is embeddable.
std::string fillPage(std::string_view page, std::string_view json);

} // namespace zero

#endif // ZERO_PAGE_PAGE_H
