#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpulint_fuzz::files(&["c/templates/a.yaml", "c/values.yaml", "c/Chart.yaml", "c/templates/_b.tpl", "c/values.schema.json"], data));
