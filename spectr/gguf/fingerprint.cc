#include "spectr/gguf/fingerprint.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "spectr/base/hash.h"

namespace spectr {

std::uint64_t fingerprint_of(const Gguf& file) {
  Fnv1a hash;
  const auto add = [&hash](std::string_view text) {
    hash.add(text.size());
    for (const char c : text) hash.add(static_cast<unsigned char>(c));
  };
  const auto add_bytes = [&add](std::span<const std::byte> bytes) {
    add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  for (const std::string_view key : file.keys()) {
    add(key);
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, std::string_view>) {
            add(value);
          } else if constexpr (std::is_same_v<T, GgufArray>) {
            add_bytes(value.bytes);
          } else {
            add_bytes(std::as_bytes(std::span(&value, 1)));
          }
        },
        *file.find(key));
  }
  const std::size_t stride =
      std::max<std::size_t>(file.tensors().size() / 16, 1);  // stride of the tensors whose bytes are hashed
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const GgufTensor& tensor = file.tensors()[i];
    add(tensor.name);
    hash.add(tensor.type);
    for (const std::uint64_t size : tensor.shape) hash.add(size);
    if (i % stride == 0) add_bytes(tensor.bytes.first(std::min<std::size_t>(tensor.bytes.size(), 256)));
  }
  hash.add(file.tensor_bytes());
  return hash.value();
}

}  // namespace spectr
