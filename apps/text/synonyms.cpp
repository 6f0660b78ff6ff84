#include "text/synonyms.hpp"

#include <algorithm>
#include <array>

namespace lloyd::apps {
namespace {

struct Synonyms {
  std::string_view names;  // each between two blanks
  std::string_view option;
  std::string_view key;
};

// In lower case, with '-' for '_' and without leading dashes.
constexpr std::array<Synonyms, 12> kSynonyms = {{
    {" k n-clusters num-clusters nclusters clusters ", "-k", "clusters"},
    {" n-init ninit nstart n-start n-restarts num-restarts replicates restarts ", "--restarts",
     "restarts"},
    {" normalize normalise normalized standardise standardize zscore z-score scale ",
     "--standardize", "dataset.standardize"},
    {" threads n-threads num-threads nthreads n-jobs jobs j ", "-p threads=N",
     "backends: [openmp: {threads: N}]"},
    {" max-iter maxiter iter-max n-iter niter max-iterations ", "--max-iterations",
     "stop.max_iterations"},
    {" iterations ", "--iterations", "stop.iterations"},
    {" tol epsilon eps tolerance ", "--tolerance", "stop.tolerance"},
    {" random-state random-seed rng-seed seed ", "--seed", "seeding.seed"},
    {" init initialization initialisation seeding ", "--seeding", "seeding"},
    {" algorithm algo engine backend ", "--backend", "backends"},
    {" sep separator delim delimiter ", "--delimiter", "dataset.delimiter"},
    {" runs trials n-repeats num-repeats repetitions ", "--repeats", "repeats"},
}};

const Synonyms* find_synonyms(std::string_view name) {
  std::string plain(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  if (plain.empty() || plain.find(' ') != std::string::npos) return nullptr;
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    if (c == '_') return '-';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto found =
      std::find_if(kSynonyms.begin(), kSynonyms.end(), [&](const Synonyms& synonyms) {
        return synonyms.names.find(" " + plain + " ") != std::string_view::npos;
      });
  return found == kSynonyms.end() ? nullptr : &*found;
}

}  // namespace

std::string option_for(std::string_view name, const std::vector<std::string>& known) {
  const Synonyms* const synonyms = find_synonyms(name);
  if (synonyms == nullptr) return {};
  const std::string_view option = synonyms->option.substr(0, synonyms->option.find(' '));
  const bool is_known = std::find(known.begin(), known.end(), option) != known.end();
  return is_known ? std::string(synonyms->option) : std::string();
}

std::string key_for(std::string_view name) {
  const Synonyms* const synonyms = find_synonyms(name);
  return synonyms == nullptr ? std::string() : std::string(synonyms->key);
}

}  // namespace lloyd::apps
