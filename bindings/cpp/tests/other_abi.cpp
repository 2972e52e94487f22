// With the header of another library: no engine is made where the header is newer, and both numbers are said.
#include <cstdio>

#include "orbgate.hpp"

int main()
{
    const auto engine = orbgate::Engine::external();
    std::puts(engine ? "an engine" : engine.error().message.c_str());
}
