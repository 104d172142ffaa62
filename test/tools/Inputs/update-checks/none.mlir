// RUN: zero-opt %s
