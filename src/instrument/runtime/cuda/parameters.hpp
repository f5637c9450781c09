// The parameters of a launch as the log has them: numbers as text, pointers as allocation and offset.
#pragma once

#include <cstring>

#include "places.hpp"
#include "records.hpp"

namespace raceproof_cuda {

inline std::string value_text(Form form, std::uint32_t bytes, const u64* words, const Places& places) {
    char room[64];
    std::string text;
    u64 word = words[0];
    unsigned unused = bytes < 8 ? 64 - 8 * bytes : 0;
    switch (form) {
        case Form::truth: return word & 0xff ? "1" : "0";
        case Form::natural: return std::to_string(word);
        case Form::integer: return std::to_string(static_cast<long long>(word << unused) >> unused);
        case Form::floating:
            if (bytes == 4) {
                float value;
                std::uint32_t low = std::uint32_t(word);
                std::memcpy(&value, &low, 4);
                std::snprintf(room, sizeof room, "%.17g", double(value));
            } else {
                double value;
                std::memcpy(&value, &word, 8);
                std::snprintf(room, sizeof room, "%.17g", value);
            }
            return room;
        case Form::pointer:
            if (!word) return "null";
            if (const Extent* extent = places.global(word)) {
                return '@' + std::to_string(extent->id) + '+' + std::to_string(word - extent->base);
            }
            return "wild";
        case Form::bytes:
            text = "struct:";
            for (std::uint32_t at = 0; at < bytes; at++) {
                std::snprintf(room, sizeof room, "%02x", unsigned(words[at / 8] >> (at % 8 * 8) & 0xff));
                text += room;
            }
    }
    return text;
}

// One line `name=value` for each parameter that was told; `row` is the kernel's name and those of its parameters.
inline std::string parameter_lines(const Head& head, const std::vector<std::string>& row, const Places& places) {
    std::string text;
    std::size_t name = 1;
    for (std::uint32_t at = 0; at < head.words && name < row.size(); name++) {
        Form form = static_cast<Form>(head.values[at] >> 32);
        std::uint32_t bytes = std::uint32_t(head.values[at]);
        text += row[name] + '=' + value_text(form, bytes, &head.values[at + 1], places) + '\n';
        at += 1 + (bytes + 7) / 8;
    }
    return text;
}

}  // namespace raceproof_cuda
