// The name by which plugins include abi/session_notes.hpp.
#pragma once

#include <lloyd/plugin/abi/session_notes.hpp>
