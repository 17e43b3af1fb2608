//! Names of variables, of options of builds and of options of programs that set devices, and what each of them says.

use super::table::Patterned;
use super::tables::{BUILD_OPTIONS, DEVICE_OPTIONS, VERSION_VARIABLES};
use std::sync::OnceLock;

/// What an option of a build says about GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildOption {
    /// For which architectures code is compiled.
    Architectures,
    /// Whether a part that needs GPUs is built.
    Switch,
}

/// What a variable or a definition says that a build is given: `CMAKE_CUDA_ARCHITECTURES`, `GGML_CUDA`.
pub fn build_option(name: &str) -> Option<BuildOption> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let all = READ.get_or_init(|| Patterned::all(&BUILD_OPTIONS, "option"));
    let found = all.iter().find(|found| found.is_about(name))?;
    Some(match found.row.text("says") {
        "architectures" => BuildOption::Architectures,
        _ => BuildOption::Switch,
    })
}

/// The software whose version a variable or a key states, however its words are joined: `CUDA_VERSION`, `cudaVersion`.
pub fn version_variable(name: &str) -> Option<&'static str> {
    static READ: OnceLock<Vec<Patterned>> = OnceLock::new();
    let all = READ.get_or_init(|| Patterned::all(&VERSION_VARIABLES, "variable"));
    let joined: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    all.iter().find(|found| found.is_about(&joined)).map(|found| found.row.text("software"))
}

/// What an option of a program sets devices to: persistence, ecc, mig.
pub fn device_option(program: &str, option: &str) -> Option<&'static str> {
    let is_about =
        |row: &super::table::Row| row.text("program") == program && row.words("options").any(|one| one == option);
    DEVICE_OPTIONS.rows().find(is_about).map(|row| row.text("setting"))
}
