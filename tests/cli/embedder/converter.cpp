// A program that links the core: copies the data file named by its first argument to the second.
#include <cstdio>

#include <lloyd/data/copy_rows.hpp>
#include <lloyd/error.hpp>

int main(int, char** arguments) {
  try {
    const lloyd::CopiedRows copied = lloyd::copy_file(arguments[1], {}, arguments[2]);
    std::printf("copied %d samples\n", static_cast<int>(copied.samples));
    return 0;
  } catch (const lloyd::InputError& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
