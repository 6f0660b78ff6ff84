// Includes everything that a plugin needs, and defines the macro that exports it.
#pragma once

// -ffast-math lets the compiler assume that no value is infinite or NaN and reassociate sums, also
// in SDK code; exact sums and distances would be wrong.
#ifdef __FAST_MATH__
#error "a plugin must be compiled without -ffast-math (-Ofast sets it), or its results are wrong"
#endif

#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/float32_range.hpp>
#include <lloyd/plugin/sdk/guard.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>
#ifndef __CUDACC__  // nvcc 13.0 fails on this header with an internal compiler error
#include <lloyd/plugin/sdk/thread_team.hpp>
#endif

// lloyd_add_plugin() defines both macros, from its first argument (the name) and VERSION.
#ifndef LLOYD_PLUGIN_NAME
#error "LLOYD_PLUGIN_NAME is not defined: build the plugin with lloyd_add_plugin"
#endif
#ifndef LLOYD_PLUGIN_VERSION
#error "LLOYD_PLUGIN_VERSION is not defined: build the plugin with lloyd_add_plugin"
#endif

/// Exports a backend: the argument is a class with static functions `probe` and `create`, see
/// PluginDescriptor. Use it once per library, in the global namespace.
#define LLOYD_EXPORT_PLUGIN(...)                                                                 \
  extern "C" __attribute__((visibility("default"), used, section(LLOYD_PLUGIN_SECTION)))         \
  const ::lloyd::PluginDescriptor lloyd_plugin = {                                               \
      ::lloyd::make_plugin_header(LLOYD_PLUGIN_NAME, LLOYD_PLUGIN_VERSION), &__VA_ARGS__::probe, \
      &__VA_ARGS__::create}
