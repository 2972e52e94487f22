// With a header that is newer than the library: no engine is made, and both numbers are said.
#include <cstdio>

#include "orbgate.hpp"

int main()
{
    const auto engine = orbgate::Engine::external();
    std::puts(engine ? "an engine" : engine.error().message.c_str());
}
