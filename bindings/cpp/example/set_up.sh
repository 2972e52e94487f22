#!/bin/sh
# Brings what the example of a gate fetches and serves with, libcurl and cpp-httplib, and what tries it. At the root.
exec sh crates/xtask/src/kit/apt.sh \
    "printf '#include <curl/curl.h>\n#include <httplib.h>\n#include <openssl/evp.h>\n' | c++ -std=c++17 -E -x c++ - && openssl version && python3 --version" \
    build-essential libcurl4-openssl-dev libcpp-httplib-dev libssl-dev openssl python3
