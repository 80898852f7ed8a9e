# packages.cmake: Debian packages by CPack (scripts/deb.sh): libnami0, libnami-dev, nami, python3-nami.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nami)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The NaMI authors <nami@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development command)
if(NAMI_PYTHON_DIR)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# deb_package(COMPONENT NAME SECTION DEPENDS SUMMARY): the fields of a package
macro(deb_package component name section depends summary)
  string(TOUPPER ${component} c)
  set(CPACK_DEBIAN_${c}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${c}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${c}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${c}_DESCRIPTION "${summary}
NaMI compiles generative models, in the language of BUGS and JAGS with the
distributions of Stan, into amortized inference networks that return
posterior draws with diagnostics.")
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  endif()
endmacro()
set(same "libnami${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(static "libjansson-dev, libgraphviz-dev, libexpat1-dev, libzip-dev, zlib1g-dev")
if(NETCDF_FOUND)
  string(APPEND static ", libnetcdf-dev")
endif()
deb_package(library libnami${PROJECT_VERSION_MAJOR} libs "" "amortized Bayesian inference (shared library)")
deb_package(development libnami-dev libdevel "${same}, ${static}" "amortized Bayesian inference (headers, static library)")
deb_package(command nami science "" "amortized Bayesian inference (command)")
deb_package(python python3-nami python "${same}, python3, python3-numpy" "amortized Bayesian inference (Python package)")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "librsvg2-2") # loaded when it is there
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "librsvg2-2")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-xarray, python3-netcdf4")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packages/deb/postinst ${PROJECT_SOURCE_DIR}/packages/deb/prerm)
include(CPack)
