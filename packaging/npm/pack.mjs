#!/usr/bin/env node
// Writes the npm packages of a release: packaging/npm/pack.mjs VERSION ARCHIVES OUT
//
// ARCHIVES is the folder with the archives of the release. OUT gets `gpulint`, which users install, and one package with the
// binary for each platform of packaging/targets.json that has a name for npm. Those come first when they are published, as
// the other depends on them.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [version, archives, out] = process.argv.slice(2);
const targets = JSON.parse(readFileSync(join(here, "../targets.json"), "utf8")).filter((target) => target.npm);

const common = {
  version,
  license: "MIT OR Apache-2.0",
  homepage: "https://gpulint.github.io",
  repository: { type: "git", url: "git+https://github.com/gpulint/gpulint.git" },
};

function write(name, fields) {
  const directory = join(out, name.replace("@gpulint/", ""));
  mkdirSync(directory, { recursive: true });
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    cpSync(join(here, "../..", licence), join(directory, licence));
  }
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, ...common, ...fields }, null, 2) + "\n");
  return directory;
}

for (const { target, npm } of targets) {
  const [os, cpu] = npm.split("-");
  const file = os === "win32" ? "gpulint.exe" : "gpulint";
  const directory = write(`@gpulint/${npm}`, {
    description: `The binary of gpulint for ${os} on ${cpu}`,
    os: [os],
    cpu: [cpu],
    files: [file, "LICENSE-*"],
  });
  const archive = join(archives, `gpulint-${target}${os === "win32" ? ".zip" : ".tar.gz"}`);
  const member = `gpulint-${target}/${file}`;
  if (!existsSync(archive)) throw new Error(`${archive} is missing`);
  // GNU tar reads no zip; the runner that publishes has both programs.
  const unpack = os === "win32" ? ["unzip", ["-qoj", archive, member, "-d", directory]] : ["tar", ["-xzf", archive, "-C", directory, "--strip-components=1", member]];
  execFileSync(...unpack, { stdio: "inherit" });
}

const directory = write("gpulint", {
  description: "A policy-as-code linter for GPU deployments",
  keywords: ["linter", "gpu", "kubernetes", "cuda", "policy"],
  bin: { gpulint: "bin/gpulint.js" },
  files: ["bin", "LICENSE-*"],
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(targets.map(({ npm }) => [`@gpulint/${npm}`, version])),
});
cpSync(join(here, "gpulint/bin"), join(directory, "bin"), { recursive: true });
cpSync(join(here, "../README.md"), join(directory, "README.md"));
