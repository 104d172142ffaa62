//===- Headers.cpp - precompiled headers need a file that uses them -------===//
