// RUN: zero-opt %s | FileCheck %s --check-prefixes=CHECK,ONE
