#pragma once

#include <cstddef>
#include <nlohmann/ordered_map.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "spectr/base/hash.h"

namespace spectr {

/// The members of a JSON object in insertion order, indexed by a randomly seeded hash of their names, so that
/// objects with many members take linear time. Concurrent reads are safe only while it is small: the first
/// lookup in a large object builds the index.
template <class Key, class T, class IgnoredLess, class Allocator>
class IndexedMap : public nlohmann::ordered_map<Key, T, IgnoredLess, Allocator> {
  using Base = nlohmann::ordered_map<Key, T, IgnoredLess, Allocator>;

 public:
  using Base::Base;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;

  template <class Name>
  iterator find(const Name& name) {
    return this->begin() + place(name);
  }
  template <class Name>
  const_iterator find(const Name& name) const {
    return this->begin() + place(name);
  }
  template <class Name>
  size_type count(const Name& name) const {
    return find(name) == this->end() ? 0 : 1;
  }
  template <class Name>
  std::pair<iterator, bool> emplace(Name&& name, T&& value) {
    if (const iterator found = find(name); found != this->end()) return {found, false};
    Base::Container::emplace_back(std::forward<Name>(name), std::move(value));
    return {this->end() - 1, true};
  }
  template <class Name>
  T& operator[](Name&& name) {
    return emplace(std::forward<Name>(name), T{}).first->second;
  }
  template <class Which>
  auto erase(Which&& which) {
    forget();
    return Base::erase(std::forward<Which>(which));
  }
  iterator erase(iterator first, iterator last) {
    forget();
    return Base::erase(first, last);
  }
  void clear() {
    forget();
    Base::clear();
  }

 private:
  static constexpr std::size_t few = 8;  // searched linearly up to this size

  template <class Name>
  std::ptrdiff_t place(const Name& name) const {
    const std::size_t size = this->size();
    std::size_t i = 0;
    if (size <= few) {
      while (i < size && member(i).first != name) ++i;
      return static_cast<std::ptrdiff_t>(i);
    }
    static const KeyedHash hash;
    for (; known_ < size; ++known_) places_.emplace(hash(std::string_view(member(known_).first)), known_);
    const auto [begin, end] = places_.equal_range(hash(std::string_view(name)));
    for (auto it = begin; it != end; ++it) {
      if (member(it->second).first == name) return static_cast<std::ptrdiff_t>(it->second);
    }
    return static_cast<std::ptrdiff_t>(size);
  }
  const std::pair<const Key, T>& member(std::size_t i) const {
    return *(this->begin() + static_cast<std::ptrdiff_t>(i));
  }
  void forget() {
    places_.clear();
    known_ = 0;
  }

  mutable std::unordered_multimap<std::size_t, std::size_t> places_;  // indices by hash of the name
  mutable std::size_t known_ = 0;                                     // number of indexed members
};

}  // namespace spectr
