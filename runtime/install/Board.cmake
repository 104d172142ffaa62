# Libraries for boards, beside libzero_rt.a.

# libzero_rt.so: programs that are linked with it need the shared libraries of Protobuf, zlib,
# liburing, libsodium and GCC's OpenMP. Static ones have code for executables only.
set(shared)
foreach(library ${Protobuf_LIBRARIES} ${ZLIB_LIBRARIES} ${URING_LIBRARY} ${SODIUM_LIBRARY} ${GOMP_LIBRARY})
  string(REGEX REPLACE "\\.a$" ".so" library "${library}")
  list(APPEND shared ${library})
endforeach()
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/zero_rt.exports)
add_library(zero_rt_shared SHARED ${objects})
set_target_properties(zero_rt_shared PROPERTIES OUTPUT_NAME zero_rt LINKER_LANGUAGE CXX
  LINK_DEPENDS ${exports})
target_link_options(zero_rt_shared PRIVATE -Wl,--version-script=${exports} -Wl,--gc-sections)
target_link_libraries(zero_rt_shared PRIVATE ${shared} Threads::Threads ${CMAKE_DL_LIBS})

# libzero_mini.a: load, train, save and resume in one process, and all it needs beside the system's C
# library and libstdc++.a. Without measurements, reports, and jobs of several processes.
set(mini_objects)
foreach(library ${libraries})
  if(NOT library MATCHES "ZeroMeasure")
    list(APPEND mini_objects $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()
list(TRANSFORM mini_objects REPLACE "(.+)"
  "$<FILTER:\\1,EXCLUDE,/(capi_world|capi_profile|machine_file|profile_file|machine.pb|secret)[.]c>")
add_library(zero_mini STATIC ${mini_objects})
set_target_properties(zero_mini PROPERTIES LINKER_LANGUAGE CXX)
set(merge "CREATE $<TARGET_FILE:zero_mini>.merged\nADDLIB $<TARGET_FILE:zero_mini>\n")
foreach(library ${Protobuf_LIBRARIES} ${ZLIB_LIBRARIES} ${URING_LIBRARY} ${GOMP_LIBRARY})
  if(library MATCHES "[.]a$")
    string(APPEND merge "ADDLIB ${library}\n")
  endif()
endforeach()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/mini.mri CONTENT "${merge}SAVE\nEND\n")
add_custom_command(TARGET zero_mini POST_BUILD
  COMMAND sh -c "'${CMAKE_AR}' -M <mini.mri && mv '$<TARGET_FILE:zero_mini>.merged' '$<TARGET_FILE:zero_mini>'"
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} VERBATIM)

install(TARGETS zero_rt_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS zero_mini ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mini)
