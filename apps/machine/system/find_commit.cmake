# Writes the commit of the tree SOURCE into the source file OUTPUT: 12 hexadecimal digits, followed by
# "-dirty" if files are modified; empty if SOURCE is not the root of a repository.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git) # not a repository that this tree merely lies in
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE}
      describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "namespace lloyd::machine {
extern const char* const kCommit;
const char* const kCommit = \"${commit}\";
}  // namespace lloyd::machine
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT EXISTS ${OUTPUT} OR NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
