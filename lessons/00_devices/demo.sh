#!/bin/sh
# The output of the lesson's demo. $1: the folder that make builds in.
exec "$1/shardlings" launch --ranks 4 -- "$1/lessons/00_devices/demo"
