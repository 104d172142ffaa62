# Web pages of reports.

# zero_sha256(<variable> <text>): the SHA-256 of a text in base64, as security policies have it.
function(zero_sha256 variable text)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digits "${text}")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${digits}00 ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    foreach(index ${high} ${low})
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND encoded ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${encoded} 0 43 encoded)
  set(${variable} ${encoded}= PARENT_SCOPE)
endfunction()

# zero_page(<target> <title> <scripts>...): a page of the frame, style and script of lib/Page and of
# further scripts, as a string literal in page.inc of the build tree, which the target includes. The policy
# of the page allows this script only.
function(zero_page target title)
  set(folder ${PROJECT_SOURCE_DIR}/lib/Page)
  file(READ ${folder}/style.css style)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/page/ OUTPUT_VARIABLE scripts)
  foreach(part ${folder}/page.js ${scripts})
    file(READ ${part} text)
    string(APPEND script "${text}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/style.css ${folder}/page.js ${scripts})
  zero_sha256(hash "${script}")
  configure_file(${folder}/page.html page/page.html @ONLY)
  file(READ ${CMAKE_CURRENT_BINARY_DIR}/page/page.html page)
  file(CONFIGURE OUTPUT page.inc CONTENT "R\"page(@page@)page\"" @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR})
endfunction()
