// Codes of texts: equal ones share a code, and those that differ in one letter spread over the
// table of codes, wherever the letter is.
#include "sureleaf/texts.hpp"

#include <set>
#include <string>
#include <vector>

#include "check.hpp"

using sureleaf::ShortText;
using sureleaf::TextCodes;
using sureleaf::Texts;

namespace {

void equal_texts_share_a_code() {
  const std::string data = "abababcabc";  // "ab", "ab", none, "abc", "", "abc"
  const std::vector<std::int32_t> offsets{0, 2, 4, 4, 7, 7, 10};
  const std::vector<std::uint8_t> validity{0b111011};
  std::vector<std::int32_t> codes(6);
  TextCodes known;
  const auto first =
      sureleaf::code_texts(Texts<std::int32_t>{offsets, data, validity}, 0, known, codes);
  CHECK((codes == std::vector<std::int32_t>{0, 0, -1, 1, 2, 1}));
  CHECK((first == std::vector<std::int64_t>{0, 3, 4}));
}

// Of 26 texts in 256 places, about one shares a place with another by chance, and 25 did when a
// difference in the last letter did not reach the low bits of the hash.
void one_letter_spreads() {
  for (const std::size_t size : {1u, 4u, 8u, 9u, 15u, 16u, 17u, 24u, 40u})
    for (std::size_t at = 0; at < size; ++at) {
      std::set<std::uint64_t> places;
      for (char letter = 'a'; letter <= 'z'; ++letter) {
        std::string text(size + 8, 'x');
        text[at] = letter;
        places.insert(ShortText(text.data(), size, text.size()).hash() % 256);
      }
      CHECK(places.size() >= 18);
    }
}

}  // namespace

TESTS(texts_test) {
  equal_texts_share_a_code();
  one_letter_spreads();
}
