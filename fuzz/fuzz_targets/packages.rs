#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["requirements.txt", "pyproject.toml", "uv.lock", "environment.yml"], data));
