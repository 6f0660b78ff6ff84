#include "text/synonyms.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lloyd::apps {
namespace {

struct Synonyms {
  std::string_view names;   // each between two blanks
  std::string_view option;  // empty: none
  std::string_view key;
};

// In lower case, with '-' for '_' and without leading dashes.
constexpr std::array<Synonyms, 16> kSynonyms = {{
    {" k n-clusters num-clusters nclusters clusters k-clusters clusters-k num-k nclust centers "
     "n-centers num-centers n-centroids num-centroids ",
     "-k", "clusters"},
    {" n-init n-inits num-init ninit nstart n-start num-starts n-restarts num-restarts replicates "
     "restarts nredo ",
     "--restarts", "restarts"},
    {" normalize normalise normalized standardise standardize zscore z-score scale scaling rescale "
     "standardization normalization ",
     "--standardize", "dataset.standardize"},
    {" threads n-threads num-threads nthreads n-jobs num-jobs njobs jobs j n-cores num-cores cores "
     "workers n-workers num-workers ",
     "-p threads=N", "backends: [openmp: {threads: N}]"},
    {" max-iter maxiter iter-max n-iter niter max-iterations max-iters maxit n-iters num-iters "
     "n-iterations num-iterations ",
     "--max-iterations", "stop.max_iterations"},
    {" iterations iteration iters ", "--iterations", "stop.iterations"},
    {" tol epsilon eps tolerance threshold ", "--tolerance", "stop.tolerance"},
    {" random-state random-seed rng-seed seed seeds ", "--seed", "seeding.seed"},
    {" init initialization initialisation seeding init-method initializer ", "--seeding",
     "seeding"},
    {" algorithm algorithms algo engine engines backend backends implementation implementations ",
     "--backend", "backends"},
    {" sep separator delim delimiter ", "--delimiter", "dataset.delimiter"},
    {" runs trials reps rep n-reps num-reps n-runs num-runs n-trials num-trials n-repeats "
     "num-repeats repetitions ",
     "--repeats", "repeats"},
    {" data data-set ", "", "dataset"},
    {" file input input-file data-file path csv ", "", "dataset.file"},
    {" samples n-samples num-samples n rows n-rows n-points num-points ", "",
     "dataset.blobs.samples"},
    {" features n-features num-features dim dims dimension dimensions d ", "",
     "dataset.blobs.features"},
}};

// Other libraries, which bench/peers/ runs: names, each between two blanks, and the program there.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPrograms = {{
    {" sklearn scikit-learn scikit-learn-kmeans scikit sk-learn ", "scikit-learn.py"},
    {" faiss faiss-cpu ", "faiss-cpu.py"},
    {" faiss-gpu ", "faiss-gpu.py"},
    {" opencv cv2 ", "opencv.py"},
    {" pytorch torch ", "pytorch.py"},
}};

// The name in lower case, with '-' for '_'.
std::string plain_name(std::string_view name) {
  std::string plain(name);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    if (c == '_') return '-';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return plain;
}

const Synonyms* find_synonyms(std::string_view name) {
  const std::string plain =
      plain_name(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  if (plain.empty() || plain.find(' ') != std::string::npos) return nullptr;
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

std::string_view program_for(std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return {};
  const std::string word = " " + plain_name(name) + " ";
  const auto found = std::find_if(kPrograms.begin(), kPrograms.end(), [&](const auto& program) {
    return program.first.find(word) != std::string_view::npos;
  });
  return found == kPrograms.end() ? std::string_view() : found->second;
}

}  // namespace lloyd::apps
