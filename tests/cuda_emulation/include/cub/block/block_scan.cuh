// The block scans that the plugins use, by thread 0.
#pragma once

namespace cub {

template <class T, int Threads>
class BlockScan {
 public:
  struct TempStorage {
    T values[Threads];
    T total;
  };
  explicit BlockScan(TempStorage& memory) : memory_(memory) {}
  void ExclusiveSum(T input, T& output, T& total) {
    memory_.values[threadIdx.x] = input;
    __syncthreads();
    if (threadIdx.x == 0) {
      T sum = 0;
      for (T& value : memory_.values) sum += std::exchange(value, sum);
      memory_.total = sum;
    }
    __syncthreads();
    output = memory_.values[threadIdx.x];
    total = memory_.total;
  }
  template <int Items>
  void ExclusiveSum(T (&inputs)[Items], T (&outputs)[Items], T& total) {
    T sum = 0;
    for (int i = 0; i < Items; ++i) {
      outputs[i] = sum;
      sum += inputs[i];
    }
    T before;
    ExclusiveSum(sum, before, total);
    for (T& output : outputs) output += before;
  }

 private:
  TempStorage& memory_;
};

}  // namespace cub
