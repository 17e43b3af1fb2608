#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["main.tf", "m/main.tf", "a.auto.tfvars", "x.tftpl"], data));
