// DeviceCache, if a session provides it: evictions succeed and change no result.
#include <lloyd/plugin/abi/device_cache.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

void evict_cache(const char* where, Session& session) {
  auto* const offered = static_cast<DeviceCache*>(session.query(kDeviceCache));
  expect(offered != nullptr, "{}: the session no longer offers evictions", where);
  const Status status = offered->evict();
  expect(status.ok(), "{}: evict() failed: {}", where, status_message(status));
}

void evict(const Context& context) {
  const Samples samples = rounded(cloud(700, 5, 83), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 9);
  if (session->query(kDeviceCache) == nullptr) {
    throw CaseSkipped{"the backend offers no eviction of its device's cache"};
  }
  Setting setting;
  setting.clusters = 9;
  setting.centroids = first_rows(samples, setting.clusters);
  setting.max_iterations = 6;
  const Trial expected = fresh_fit(context, samples, setting);
  evict_cache("before the first fit()", *session);
  for (const char* where : {"after evict()", "after a fit() and evict()"}) {
    const Trial trial = run_fit(*session, samples, setting);
    expect(trial.status.ok(), "{}: fit() failed: {}", where, status_message(trial.status));
    if (context.repeatable()) expect_same_fit(where, samples.d, expected, trial);
    evict_cache("after fit()", *session);
  }
}

}  // namespace

void add_device_cache_cases(std::vector<Case>& cases) {
  cases.push_back({"device-cache/evict", Scope::defaults, evict});
}

}  // namespace lloyd::conformance
