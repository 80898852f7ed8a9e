# embed.cmake: writes files as arrays of a C header: file_NAME, with a 0 behind its file_NAME_size bytes.
#     cmake -DOUT=pages.h -DFILES=a.html,b.css -P embed.cmake
string(REPLACE "," ";" FILES "${FILES}")
set(text "/* written by cmake/embed.cmake */\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "static const unsigned char bytes_${name}[] = {${bytes}0};\n"
                     "static const char *const file_${name} = (const char *)bytes_${name};\n"
                     "enum { file_${name}_size = ${size} };\n")
endforeach()
file(WRITE ${OUT} "${text}")
