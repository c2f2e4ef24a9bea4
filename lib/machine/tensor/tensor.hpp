// Tensor: a shape, a dtype, and storage on a Device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/device/device.hpp"

namespace shardlings {

using Shape = std::vector<std::int64_t>;

/// The product of the dimensions; 1 for no dimension.
std::int64_t elements_of(const Shape& shape);
/// "3 x 4".
std::string to_string(const Shape& shape);

/// Row-major elements. Move-only: clone() copies, view() shares the storage, which is freed with its last
/// holder. A default-constructed Tensor is empty: it holds no storage.
class Tensor {
  public:
    Tensor() = default;
    /// Unspecified contents. DeviceOutOfMemory when the budget does not allow it.
    Tensor(Device& device, Shape shape, DType dtype, Category category);
    Tensor(Tensor&&) noexcept = default;
    Tensor& operator=(Tensor&&) noexcept = default;

    bool empty() const { return storage_ == nullptr; }
    const Shape& shape() const { return shape_; }
    std::int64_t dim(std::size_t i) const { return shape_.at(i); }
    std::int64_t elements() const { return elements_of(shape_); }
    /// The last dimension, and the product of the others: how a matrix product sees the tensor.
    std::int64_t columns() const { return shape_.empty() ? 1 : shape_.back(); }
    std::int64_t rows() const { return columns() == 0 ? 0 : elements() / columns(); }
    DType dtype() const { return dtype_; }
    std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype_); }
    Device& device() const { return storage_->device(); }
    Category category() const { return storage_->category(); }

    Buffer buffer() { return {data_, elements(), dtype_}; }
    ConstBuffer buffer() const { return {data_, elements(), dtype_}; }
    /// The elements as T, which must be the type that the dtype stores (double, float, int32 ids).
    template <class T>
    std::span<T> span()
    {
        check_stores(sizeof(T), std::is_floating_point_v<T>);
        return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(elements())};
    }
    template <class T>
    std::span<const T> span() const
    {
        check_stores(sizeof(T), std::is_floating_point_v<T>);
        return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(elements())};
    }

    /// A new tensor with the same contents.
    Tensor clone(Category category) const;
    /// A tensor over elements [offset, offset + its size) of this one's storage.
    Tensor view(std::int64_t offset, Shape shape) const;
    void fill_zero();

  private:
    void check_stores(std::size_t size, bool floating) const;

    std::shared_ptr<Allocation> storage_;
    std::byte* data_ = nullptr;
    Shape shape_;
    DType dtype_ = DType::fp32;
};

/// A tensor like `other`, contents unspecified.
Tensor make_like(const Tensor& other, Category category);

/// Error unless the tensor has this shape; `name` is how the message calls it.
void check_shape(const Tensor& tensor, const Shape& expected, std::string_view name);

/// to[i] = from[i], rounded to nearest even where the dtype of `to` holds fewer digits. Same number of
/// elements.
void convert(ConstBuffer from, Buffer to);

/// All elements as doubles; exact for every dtype.
std::vector<double> to_doubles(const Tensor& tensor);
/// tensor[i] = values[i], rounded to the tensor's dtype.
void from_doubles(std::span<const double> values, Tensor& tensor);

}  // namespace shardlings
