#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["Makefile", ".github/workflows/ci.yml", ".gitlab-ci.yml"], data));
