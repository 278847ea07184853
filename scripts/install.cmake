# What `cmake --install` puts where, and packages for Debian (`cpack` in the build folder; scripts/make_packages.sh). Each file
# belongs to a component, which is a package: program, development, python (src/python/CMakeLists.txt).
set(TITER_DOCUMENTS share/doc/titer)

# What the program writes about itself: for editors what every kind of file may hold, for shells the scripts that ask it what a
# word may become, for man(1) a page for each command.
set(TITER_SCHEMAS ${CMAKE_BINARY_DIR}/schemas)
set(TITER_COMPLETIONS ${CMAKE_BINARY_DIR}/completions)
set(TITER_MANUAL ${CMAKE_BINARY_DIR}/manual)
add_custom_command(TARGET titer_program POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${TITER_SCHEMAS} ${TITER_MANUAL}
  COMMAND titer_program schema --out ${TITER_SCHEMAS}
  COMMAND titer_program help --man ${TITER_MANUAL}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${TITER_COMPLETIONS}
  COMMAND titer_program completion bash > ${TITER_COMPLETIONS}/titer
  COMMAND titer_program completion zsh > ${TITER_COMPLETIONS}/_titer
  COMMAND titer_program completion fish > ${TITER_COMPLETIONS}/titer.fish VERBATIM)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS titer_program DESTINATION bin)
if(TARGET titer_http)
  install(TARGETS titer_http DESTINATION lib/titer)
endif()
install(DIRECTORY configs models topologies ${TITER_SCHEMAS} DESTINATION share/titer)
install(DIRECTORY ${TITER_MANUAL}/ DESTINATION share/man/man1)
install(FILES ${TITER_COMPLETIONS}/titer DESTINATION share/bash-completion/completions)
# Debian's zsh looks for packages' completions in a folder of its own.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  install(FILES ${TITER_COMPLETIONS}/_titer DESTINATION share/zsh/vendor-completions)
else()
  install(FILES ${TITER_COMPLETIONS}/_titer DESTINATION share/zsh/site-functions)
endif()
install(FILES ${TITER_COMPLETIONS}/titer.fish DESTINATION share/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION ${TITER_DOCUMENTS} RENAME copyright)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${TITER_DOCUMENTS})
install(DIRECTORY docs .pictures DESTINATION ${TITER_DOCUMENTS})
install(FILES examples/question.json DESTINATION ${TITER_DOCUMENTS}/examples)

# For programs that ask by themselves (find_package(titer), examples/ask): the questions, and what their headers include.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(TITER_INTERFACE
  ask/asked ask/campaign ask/evidence ask/network ask/question ask/run ask/search ask/shipped ask/whatif
  input/document input/input_error
  simulate/fidelity
  view/figure view/plot view/text_view view/view)
list(TRANSFORM TITER_INTERFACE REPLACE "(.+)" "include/titer/\\1.hpp")
target_sources(titer PUBLIC FILE_SET interface TYPE HEADERS BASE_DIRS include FILES ${TITER_INTERFACE})
include(CMakePackageConfigHelpers)
set(TITER_LIBRARIES titer)
set(TITER_NEEDED_PACKAGES
  libfmt-dev libmuparser-dev libpugixml-dev libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev zlib1g-dev)
if(TARGET titer_chakra)
  list(APPEND TITER_LIBRARIES titer_chakra)
  list(APPEND TITER_NEEDED_PACKAGES libprotobuf-dev)
  set(TITER_NEEDS_PROTOBUF "find_dependency(Protobuf)")
endif()
configure_package_config_file(scripts/titerConfig.cmake.in titerConfig.cmake INSTALL_DESTINATION lib/cmake/titer)
write_basic_package_version_file(titerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS ${TITER_LIBRARIES} EXPORT titerTargets ARCHIVE DESTINATION lib FILE_SET interface DESTINATION include)
install(EXPORT titerTargets NAMESPACE titer:: DESTINATION lib/cmake/titer)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/titerConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/titerConfigVersion.cmake
        DESTINATION lib/cmake/titer)
install(DIRECTORY examples/ask DESTINATION ${TITER_DOCUMENTS}/examples)

# What the program needs is found out by dpkg-shlibdeps; what the static library needs are other libraries' headers.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of Titer")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program development)
if(TITER_STATIC)  # the program alone, in place of the one that loads libraries
  set(CPACK_COMPONENTS_ALL program)
endif()
if(TARGET titer_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
if(TITER_STATIC)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME titer-static)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONFLICTS titer)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_REPLACES titer)
else()
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME titer)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
endif()
if(TITER_RSVG_FOUND)  # loaded when a PNG is drawn
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "librsvg2-2 (>= 2.52)")
endif()
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program titer, its data, manual pages and documents.")
list(JOIN TITER_NEEDED_PACKAGES ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtiter-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", titer (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The C++ library of titer, for programs that ask by themselves.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-titer)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
math(EXPR next_python "0${Python_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "titer (= ${PROJECT_VERSION}), python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_python})")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python module titer.")
include(CPack)
