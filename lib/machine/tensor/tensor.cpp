#include "lib/machine/tensor/tensor.hpp"

#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace shardlings {

std::int64_t elements_of(const Shape& shape)
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape)
{
    std::string text;
    for (const std::int64_t dim : shape) text += (text.empty() ? "" : " x ") + std::to_string(dim);
    return text.empty() ? "scalar" : text;
}

Tensor::Tensor(Device& device, Shape shape, DType dtype, Category category)
    : shape_(std::move(shape)), dtype_(dtype)
{
    storage_ = std::make_shared<Allocation>(device.allocate(bytes(), category));
    data_ = storage_->data();
}

void Tensor::check_stores(std::size_t size, bool floating) const
{
    const bool is_floating = dtype_ == DType::fp64 || dtype_ == DType::fp32;
    check(size == size_of(dtype_) && floating == is_floating, "a tensor of {} was read as another type",
          name_of(dtype_));
}

Tensor Tensor::clone(Category category) const
{
    Tensor copy(device(), shape_, dtype_, category);
    std::memcpy(copy.data_, data_, bytes());
    return copy;
}

Tensor Tensor::view(std::int64_t offset, Shape shape) const
{
    Tensor part;
    part.storage_ = storage_;
    part.data_ = data_ + static_cast<std::size_t>(offset) * size_of(dtype_);
    part.shape_ = std::move(shape);
    part.dtype_ = dtype_;
    check(offset >= 0 && part.data_ + part.bytes() <= storage_->data() + storage_->bytes(),
          "a view of {} elements at {} does not fit a tensor of {}", part.elements(), offset,
          to_string(shape_));
    return part;
}

void Tensor::fill_zero()
{
    std::memset(data_, 0, bytes());
}

Tensor make_like(const Tensor& other, Category category)
{
    return Tensor(other.device(), other.shape(), other.dtype(), category);
}

void check_shape(const Tensor& tensor, const Shape& expected, std::string_view name)
{
    check(!tensor.empty() && tensor.shape() == expected, "{} has the shape {}: expected {}", name,
          tensor.empty() ? "of an empty tensor" : to_string(tensor.shape()), to_string(expected));
}

std::vector<double> to_doubles(const Tensor& tensor)
{
    std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
    convert(tensor.buffer(), {reinterpret_cast<std::byte*>(values.data()), tensor.elements(), DType::fp64});
    return values;
}

void from_doubles(std::span<const double> values, Tensor& tensor)
{
    check(static_cast<std::int64_t>(values.size()) == tensor.elements(), "{} values for a tensor of {}",
          values.size(), to_string(tensor.shape()));
    convert({reinterpret_cast<const std::byte*>(values.data()), tensor.elements(), DType::fp64},
            tensor.buffer());
}

}  // namespace shardlings
