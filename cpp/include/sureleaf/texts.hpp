// Text as numbers: equal texts get equal codes, in the order in which they first come.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace sureleaf {

// Texts one after the other, as Arrow has them: text i is data[offsets[i]] .. data[offsets[i + 1]].
// Bit i of `validity` (none: all are) says whether there is a text at all.
template <class Offset>
struct Texts {
  std::span<const Offset> offsets;
  std::span<const char> data;
  std::span<const std::uint8_t> validity;

  bool is_missing(std::size_t i) const {
    return !validity.empty() && !((validity[i / 8] >> (i % 8)) & 1);
  }
};

// The bits that any of `size` values has. Four quarters are read at once, because a core gets more
// from memory in several streams than in one; compilers turn the loop into vector instructions.
template <class Bits, class Value>
Bits collected_bits(std::size_t size, Value value) {
  const std::size_t quarter = size / 4;
  Bits bits = 0;
  for (std::size_t i = 0; i < quarter; ++i)
    bits |= value(i) | value(quarter + i) | value(2 * quarter + i) | value(3 * quarter + i);
  for (std::size_t i = 4 * quarter; i < size; ++i) bits |= value(i);
  return bits;
}

// Whether texts are ASCII, with offsets that ascend in the data: then nothing is wrong with them.
template <class Offset>
bool are_ascii(std::span<const Offset> offsets, std::span<const std::uint8_t> data) {
  if (offsets.empty() || offsets.front() < 0 || offsets.back() < offsets.front() ||
      static_cast<std::uint64_t>(offsets.back()) > data.size())
    return false;
  using Bits = std::make_unsigned_t<Offset>;
  // The signs of the offsets and, if none is below 0, of their differences.
  const auto signs = collected_bits<Bits>(offsets.size() - 1, [&](std::size_t i) {
    const auto low = static_cast<Bits>(offsets[i]), high = static_cast<Bits>(offsets[i + 1]);
    return static_cast<Bits>(high | (high - low));
  });
  if (static_cast<Offset>(signs) < 0) return false;
  const std::uint8_t* letters = data.data() + offsets.front();
  const auto size = static_cast<std::size_t>(offsets.back() - offsets.front());
  return collected_bits<std::uint8_t>(size, [&](std::size_t i) { return letters[i]; }) < 0x80;
}

// A text with its length, its first eight bytes and its last: of up to 16 bytes nothing else has to
// be looked at.
class ShortText {
 public:
  // `readable` bytes can be read from its beginning on, whether they belong to it or not.
  ShortText(const char* text, std::size_t size, std::size_t readable) : text_(text), size_(size) {
    if (readable >= 8) {
      const std::uint64_t mask =
          size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
      first_ = word_at(text) & mask;
      last_ = word_at(text + (size > 8 ? size - 8 : 0)) & mask;
    } else {
      first_ = last_ = word_of(text, size);
    }
  }
  bool operator==(const ShortText& other) const {
    return first_ == other.first_ && last_ == other.last_ && size_ == other.size_ &&
           (size_ <= 16 || std::memcmp(text_, other.text_, size_) == 0);
  }
  std::uint64_t hash() const {
    std::uint64_t value = mixed(first_ + size_) ^ last_;
    for (std::size_t at = 8; at + 8 < size_; at += 8) value = mixed(value) ^ word_at(text_ + at);
    return mixed(value);
  }

 private:
  static_assert(std::endian::native == std::endian::little, "short texts are masked from below");
  static std::uint64_t word_at(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
  }
  // Up to seven bytes, of which no more can be read: from both ends, for a copy of so few takes as
  // long as all the rest.
  static std::uint64_t word_of(const char* text, std::size_t size) {
    const auto byte = [text](std::size_t at) {
      return std::uint64_t{static_cast<unsigned char>(text[at])} << (8 * at);
    };
    if (size < 4) return size == 0 ? 0 : byte(0) | byte(size / 2) | byte(size - 1);
    std::uint32_t first, last;
    std::memcpy(&first, text, 4);
    std::memcpy(&last, text + size - 4, 4);
    return first | std::uint64_t{last} << (8 * (size - 4));
  }
  // The low bits of the product depend on low bits only, so the high ones are folded in before it.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15ull;
    return x ^ (x >> 32);
  }
  std::uint64_t first_ = 0, last_ = 0;
  const char* text_;
  std::size_t size_;
};

// Open addressing; what is kept of a text is where it lies, so that the texts must outlive it.
class TextCodes {
 public:
  TextCodes() : slots_(256, -1) {}

  std::int32_t code_of(const ShortText& text) {
    std::size_t at = text.hash() & (slots_.size() - 1);
    for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
      if (texts_[static_cast<std::size_t>(slots_[at])] == text) return slots_[at];
    const auto code = static_cast<std::int32_t>(texts_.size());
    slots_[at] = code;
    texts_.push_back(text);
    if (4 * texts_.size() > slots_.size()) grow();
    return code;
  }
  std::size_t size() const { return texts_.size(); }

 private:
  void grow() {
    slots_.assign(4 * slots_.size(), -1);
    for (std::size_t code = 0; code < texts_.size(); ++code) {
      std::size_t at = texts_[code].hash() & (slots_.size() - 1);
      while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::int32_t>(code);
    }
  }

  std::vector<std::int32_t> slots_;
  std::vector<ShortText> texts_;
};

// Codes of texts first .. first + codes.size(), -1 where there is none; and the indices among them
// of texts that had not come before.
template <class Offset>
std::vector<std::int64_t> code_texts(const Texts<Offset>& texts, std::size_t first,
                                     TextCodes& known, std::span<std::int32_t> codes) {
  if (first > texts.offsets.size() || codes.size() > texts.offsets.size())
    throw std::invalid_argument("there are fewer texts than codes");
  if (first + codes.size() + 1 > texts.offsets.size() && !codes.empty())
    throw std::invalid_argument("there are fewer texts than codes");
  if (!texts.validity.empty() && 8 * texts.validity.size() < first + codes.size())
    throw std::invalid_argument("there are fewer marks of validity than codes");
  std::vector<std::int64_t> new_indices;
  std::size_t n_known = known.size();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto begin = static_cast<std::size_t>(texts.offsets[first + i]);
    const auto end = static_cast<std::size_t>(texts.offsets[first + i + 1]);
    if (end < begin || end > texts.data.size())
      throw std::invalid_argument("a text lies outside of its data");
    if (texts.is_missing(first + i)) {
      codes[i] = -1;
      continue;
    }
    codes[i] = known.code_of({texts.data.data() + begin, end - begin, texts.data.size() - begin});
    if (known.size() == n_known) continue;
    new_indices.push_back(static_cast<std::int64_t>(i));
    ++n_known;
  }
  return new_indices;
}

}  // namespace sureleaf
