// Public include path; forwards to abi/session_notes.hpp.
#pragma once

#include <lloyd/plugin/abi/session_notes.hpp>
