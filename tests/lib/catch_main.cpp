// Catch2 version 2 brings its main() as a header; it takes long to compile, so this is the only file that
// does.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
