#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["compose.yaml", ".env", "base.yaml", "a.env"], data));
