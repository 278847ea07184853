# Sources that hold the page and what reports hold, so that the program needs no file to show them.

# Writes them into `folder`, and their names into `made`. `root`: of the project.
function(titer_embed_parts root folder made)
  foreach(part web/page/page.html web/page/page.css web/page/page.js view/report/report.css view/report/report.js)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/src/${part})
    get_filename_component(variable ${part} NAME)
    string(REPLACE "." "_" variable ${variable})
    file(READ ${root}/src/${part} ${variable})
  endforeach()
  set(sources)
  foreach(source web/page_parts view/html_style)
    get_filename_component(name ${source} NAME)
    configure_file(${root}/src/${source}.cpp.in ${folder}/${name}.cpp @ONLY)
    list(APPEND sources ${folder}/${name}.cpp)
  endforeach()
  set(${made} ${sources} PARENT_SCOPE)
endfunction()
