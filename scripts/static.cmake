# Included where the program is to load no library (TITER_STATIC): what the libraries' targets name are their static ones. Debian has
# none of muParser, so that there are no expressions, and of cpp-httplib, no `titer serve`; librsvg has to be loaded, so no PNG;
# fmt and toml++ are their headers here.
foreach(library yaml-cpp z sqlite3 protobuf-lite)
  find_library(TITER_STATIC_${library} NAMES lib${library}.a REQUIRED)
endforeach()

# use_static TARGET FILE: in place of the shared library, in whatever configuration that is known.
function(use_static target file)
  if(TARGET ${target})
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${file})
    endforeach()
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${file})
  endif()
endfunction()

use_static(yaml-cpp ${TITER_STATIC_yaml-cpp})
use_static(ZLIB::ZLIB ${TITER_STATIC_z})
use_static(SQLite::SQLite3 ${TITER_STATIC_sqlite3})
use_static(protobuf::libprotobuf-lite ${TITER_STATIC_protobuf-lite})
set_target_properties(pugixml::pugixml PROPERTIES INTERFACE_LINK_LIBRARIES pugixml::static)
set(TITER_FMT fmt::fmt-header-only)
set(TITER_TOML "")
