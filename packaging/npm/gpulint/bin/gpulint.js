#!/usr/bin/env node
// Hands over to the binary of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawnSync } = require("node:child_process");

const name = `@gpulint/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "gpulint.exe" : "gpulint";

let binary = process.env.GPULINT_BINARY;
if (!binary) {
  try {
    binary = require.resolve(`${name}/${file}`);
  } catch {
    console.error(
      `gpulint: the package ${name} is not installed. Either there is no binary for this platform, or optional ` +
        "dependencies were left out (--no-optional, --omit=optional, or a lock file made on another platform).",
    );
    process.exit(2);
  }
}

const ended = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`gpulint: ${binary}: ${ended.error.message}`);
}
if (ended.signal) {
  process.kill(process.pid, ended.signal);
}
process.exit(ended.status ?? 2);
