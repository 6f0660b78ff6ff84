// view_matrix(): the Matrix of a matrix type of another library, such as Eigen or std::mdspan.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// A dense matrix like those of Eigen: rows() x cols() values from data(), with the distances
/// innerStride() and outerStride() along and across the direction in which values are stored.
template <class M>
concept EigenMatrix = requires(const M& matrix) {
  { *matrix.data() } -> std::convertible_to<double>;
  { matrix.rows() } -> std::convertible_to<std::int64_t>;
  { matrix.cols() } -> std::convertible_to<std::int64_t>;
  { matrix.innerStride() } -> std::convertible_to<std::int64_t>;
  { matrix.outerStride() } -> std::convertible_to<std::int64_t>;
  { M::IsRowMajor } -> std::convertible_to<bool>;
};

/// A matrix like std::mdspan: extent(0) x extent(1) values from data_handle(), with strides.
template <class M>
concept MdspanMatrix = requires(const M& matrix) {
  { *matrix.data_handle() } -> std::convertible_to<double>;
  { matrix.extent(0) } -> std::convertible_to<std::int64_t>;
  { matrix.stride(1) } -> std::convertible_to<std::int64_t>;
  requires M::rank()
  == 2;
};

namespace detail {

// `row_stride` and `column_stride`: values from one row or column to the next.
template <class T>
Matrix strided_matrix(const T* values, std::int64_t rows, std::int64_t columns,
                      std::int64_t row_stride, std::int64_t column_stride) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "the matrix must have float or double values");
  if ((column_stride == 1 || columns <= 1) && (row_stride >= columns || rows <= 1)) {
    return Matrix::view(values, rows, columns, rows <= 1 ? columns : row_stride);
  }
  // No loop could copy these; Dataset says what is wrong with such a shape.
  if (rows < 1 || columns < 1) return Matrix::view(values, rows, columns);
  std::vector<T> copy;
  copy.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      copy.push_back(values[i * row_stride + j * column_stride]);
    }
  }
  return Matrix::from_values(std::move(copy), rows, columns);
}

template <class M>
concept StridedMatrix = EigenMatrix<M> || MdspanMatrix<M>;

// True if the values of a matrix are part of the object itself.
template <class M>
bool holds_values(const M& matrix) {
  const void* values = nullptr;
  if constexpr (EigenMatrix<M>) {
    values = matrix.data();
  } else {
    values = matrix.data_handle();
  }
  const M* const begin = std::addressof(matrix);
  const std::less<const void*> less;
  return !less(values, begin) && less(values, begin + 1);
}

// A matrix of Eigen whose temporary may refer to values of its own that a copy of it does not have,
// as Eigen::Ref<const MatrixXf> may.
template <class M>
concept EigenReference = EigenMatrix<M> && requires {
  requires !std::is_same_v<typename M::PlainObject, std::remove_const_t<M>>;
};

// Moves a temporary matrix into shared ownership.
template <class M>
auto keep(M&& matrix) {
  using Value = std::remove_const_t<M>;
  if constexpr (EigenReference<M>) {
    return std::make_shared<const typename Value::PlainObject>(matrix);  // copies the values
  } else {
    static_assert(std::is_constructible_v<Value, M&&>,
                  "view_matrix() of a temporary needs a matrix that can be moved or copied; give "
                  "the matrix a name, so that it outlives the view");
    return std::make_shared<const Value>(std::forward<M>(matrix));
  }
}

}  // namespace detail

/// The samples of an Eigen matrix: a row is a sample, a column a feature. The matrix must outlive
/// the result, which refers to its values if the features of a sample are adjacent in memory.
/// Otherwise, as with Eigen's default column-major order, they are copied. A temporary may be
/// passed, see below.
template <EigenMatrix M>
Matrix view_matrix(const M& matrix) {
  const std::int64_t inner = matrix.innerStride();
  const std::int64_t outer = matrix.outerStride();
  const bool row_major = M::IsRowMajor;
  return detail::strided_matrix(matrix.data(), matrix.rows(), matrix.cols(),
                                row_major ? outer : inner, row_major ? inner : outer);
}

/// The samples of an mdspan of rank 2: the first index is the sample, the second the feature. The
/// values must outlive the result, which refers to them if the features of a sample are adjacent in
/// memory; otherwise they are copied.
template <MdspanMatrix M>
Matrix view_matrix(const M& matrix) {
  const std::remove_reference_t<decltype(*matrix.data_handle())>* values = matrix.data_handle();
  return detail::strided_matrix(values, matrix.extent(0), matrix.extent(1), matrix.stride(0),
                                matrix.stride(1));
}

/// The samples of a temporary matrix. If it may own its values, it is moved into the result. A
/// temporary view, such as Eigen::Map or std::mdspan, is not kept: the values that it refers to
/// must outlive the result, unless they are copied as above.
template <class M>
requires(detail::StridedMatrix<M> && !std::is_lvalue_reference_v<M>) Matrix
    view_matrix(M&& matrix) {
  if constexpr (std::is_trivially_destructible_v<M>) {
    // What does not free anything owns no values but those within itself.
    if (!detail::holds_values(matrix)) return view_matrix(std::as_const(matrix));
  }
  const auto kept = detail::keep(std::forward<M>(matrix));
  Matrix result = view_matrix(*kept);
  if (result.storage == nullptr) result.storage = kept;
  return result;
}

}  // namespace lloyd
