#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["kustomization.yaml", "r.yaml", "p.yaml", "base/kustomization.yaml", "base/r.yaml"], data));
