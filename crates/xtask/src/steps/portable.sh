#!/bin/sh
# What cargo calls instead of the compiler, so that our own crates have the code for any processor.
exec "$@" --cfg orbgate_portable
