#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["Dockerfile", "requirements.txt"], data));
