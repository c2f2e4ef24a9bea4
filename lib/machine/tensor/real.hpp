// How a layer computes on tensors of any dtype: in double for fp64 and in float for fp32, bf16 and fp16.
//
// Input, Output and Update give a tensor's elements as Real. For fp64 and fp32 they are the tensor's own
// storage; for the 16-bit types they are a float copy in workspace memory, converted on the way in and out,
// as a GPU's tensor cores multiply 16-bit numbers and sum in 32 bits.
#pragma once

#include <optional>
#include <type_traits>

#include "lib/machine/tensor/matrix.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

/// Calls function(Real{}) with the type that layers compute in for `dtype`.
template <class Function>
decltype(auto) with_real(DType dtype, Function&& function)
{
    return dtype == DType::fp64 ? function(double{}) : function(float{});
}

namespace detail {

/// Elements of a tensor as Real; see the three below.
template <class Real>
class RealView {
  public:
    RealView(const Tensor& tensor, bool load)
        : tensor_(tensor.view(0, tensor.shape())), rows_(tensor.rows()), columns_(tensor.columns())
    {
        if (!is_sixteen_bit(tensor.dtype())) {
            data_ = tensor_.template span<Real>().data();
            return;
        }
        copy_ = Tensor(tensor.device(), tensor.shape(), DType::fp32, Category::workspace);
        if (load) convert(tensor_.buffer(), copy_.buffer());
        if constexpr (std::is_same_v<Real, float>) data_ = copy_.template span<float>().data();
    }
    RealView(const RealView&) = delete;
    RealView& operator=(const RealView&) = delete;

  protected:
    void store()
    {
        if (!copy_.empty()) convert(std::as_const(copy_).buffer(), tensor_.buffer());
    }
    ~RealView() = default;

    Tensor tensor_;
    Tensor copy_;
    Real* data_ = nullptr;
    std::int64_t rows_;
    std::int64_t columns_;
};

}  // namespace detail

/// A tensor that is read.
template <class Real>
class Input : private detail::RealView<Real> {
  public:
    explicit Input(const Tensor& tensor) : detail::RealView<Real>(tensor, true) {}
    Matrix<const Real> matrix() const { return {this->data_, this->rows_, this->columns_}; }
    std::span<const Real> span() const
    {
        return {this->data_, static_cast<std::size_t>(this->rows_ * this->columns_)};
    }
};

/// A tensor whose elements are all written; what it held before is not there to be read.
template <class Real>
class Output : private detail::RealView<Real> {
  public:
    explicit Output(Tensor& tensor) : detail::RealView<Real>(tensor, false) {}
    ~Output() { this->store(); }
    Matrix<Real> matrix() const { return {this->data_, this->rows_, this->columns_}; }
    std::span<Real> span() const
    {
        return {this->data_, static_cast<std::size_t>(this->rows_ * this->columns_)};
    }
};

/// A tensor that is read and written, such as a gradient that is added to.
template <class Real>
class Update : private detail::RealView<Real> {
  public:
    explicit Update(Tensor& tensor) : detail::RealView<Real>(tensor, true) {}
    ~Update() { this->store(); }
    Matrix<Real> matrix() const { return {this->data_, this->rows_, this->columns_}; }
    std::span<Real> span() const
    {
        return {this->data_, static_cast<std::size_t>(this->rows_ * this->columns_)};
    }
};

}  // namespace shardlings
