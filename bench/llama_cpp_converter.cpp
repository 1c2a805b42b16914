// llama.cpp's own schema converter as a program: a JSON schema a line in, {"gbnf": …} or {"error": …} out.
//
// Built against a checkout of llama.cpp in $LLAMA, without the rest of it:
//
//   c++ -std=c++17 -O2 -I$LLAMA/common -I$LLAMA/include -I$LLAMA/ggml/include -I$LLAMA/vendor
//       bench/llama_cpp_converter.cpp $LLAMA/common/json-schema-to-grammar.cpp
//       $LLAMA/common/{json-schema,json,trie,unicode}.cpp -o /tmp/peers/llama-cpp-converter

#include "json-schema-to-grammar.h"

#include <cstdarg>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

// What the converter uses of llama.cpp's larger files.
std::string string_join(const std::vector<std::string> & parts, const std::string & between) {
    std::string out;
    for (size_t i = 0; i < parts.size(); i++) {
        out += (i ? between : "") + parts[i];
    }
    return out;
}

std::vector<std::string> string_split(const std::string & text, const std::string & at) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t end; (end = text.find(at, start)) != std::string::npos; start = end + at.size()) {
        parts.push_back(text.substr(start, end - start));
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::string string_repeat(const std::string & text, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; i++) {
        out += text;
    }
    return out;
}

extern "C" void ggml_abort(const char *, int, const char *, ...) {
    std::abort();
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        common_json out;
        try {
            out["gbnf"] = json_schema_to_grammar(common_json::parse(line));
        } catch (const std::exception & error) {
            out["error"] = error.what();
        }
        std::cout << out.dump() << std::endl;
    }
}
