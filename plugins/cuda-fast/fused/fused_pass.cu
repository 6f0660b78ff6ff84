#include "cuda-fast/fused/fused_pass.hpp"

#include "cuda-fast/fused/labeller_for_features.cuh"

namespace lloyd_cuda_fast {

template <class T>
void enqueue_fused_pass(const Pass& pass, const Samples<T>& samples,
                        const FusedArguments& arguments, lloyd_cuda_fused::Device& device,
                        const lloyd_cuda::Finish& finish) {
  if (pass.rows.size() == 0) return;
  const ExactLabellerArguments labels{arguments.units, arguments.origin, arguments.fallbacks};
  with_labeller<T>(samples.features, [&]<class Labeller>() {
    lloyd_cuda_fused::launch_pass<Labeller>(pass, samples, labels, arguments.configuration, device,
                                            finish);
  });
}

template void enqueue_fused_pass(const Pass&, const Samples<float>&, const FusedArguments&,
                                 lloyd_cuda_fused::Device&, const lloyd_cuda::Finish&);
template void enqueue_fused_pass(const Pass&, const Samples<double>&, const FusedArguments&,
                                 lloyd_cuda_fused::Device&, const lloyd_cuda::Finish&);

}  // namespace lloyd_cuda_fast
