# cmake -D SOURCE=FOLDER -D VERSION=X.Y.Z -D OUT=FILE -P write_version.cmake: the version with the commit that is checked out, if
# SOURCE is a repository (not if it lies in one of something else). The file is left alone where it says so already.
set(TITER_VERSION ${VERSION})
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH ${SOURCE} source)
  if(top STREQUAL source)
    execute_process(COMMAND ${GIT} describe --always --abbrev=7 --exclude=* --dirty=.changed
                    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit)
      string(APPEND TITER_VERSION "+${commit}")
    endif()
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${OUT} @ONLY)
