# Runs PROGRAM, through EMULATOR if that is set, to write man pages and completion scripts into FOLDER, which is laid out
# like the share folder of an installation.
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${EMULATOR} ${PROGRAM} man --output ${FOLDER}/man/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(script IN ITEMS bash:bash-completion/completions/lloyd zsh:zsh/site-functions/_lloyd
    fish:fish/vendor_completions.d/lloyd.fish)
  string(REPLACE ":" ";" script ${script})
  list(GET script 0 shell)
  list(GET script 1 file)
  cmake_path(GET file PARENT_PATH parent)
  file(MAKE_DIRECTORY ${FOLDER}/${parent})
  execute_process(COMMAND ${EMULATOR} ${PROGRAM} completion ${shell} OUTPUT_FILE ${FOLDER}/${file}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
