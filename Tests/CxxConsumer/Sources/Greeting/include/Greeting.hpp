#pragma once

#include <string>

inline std::string greeting(int count) {
    return "greeting-" + std::to_string(count);
}
