//! Trainers: what their options state about a run.

use super::table::Row;
use super::tables::{OPTIMIZERS, TRAINING_OPTIONS};

/// Key of the rows that say what a trainer does when nothing is stated.
const DEFAULT: &str = "default";

/// An option of a trainer that states a field of a run.
#[derive(Debug, Clone, Copy)]
pub struct TrainingOption {
    /// Field of the run; `config` names a further configuration file.
    pub field: &'static str,
    /// Its key: a path with dots in a file, a flag on a command line.
    pub key: &'static str,
    written: &'static str,
    means: &'static str,
}

impl TrainingOption {
    /// What a value of the option means for its field; `None` when it says nothing of it.
    pub fn meaning<'v>(&self, value: &'v str) -> Option<&'v str>
    where
        'static: 'v,
    {
        let matches = |pattern: &str| match pattern.strip_prefix('*') {
            Some(part) => value.contains(part),
            None => value.eq_ignore_ascii_case(pattern),
        };
        if !self.written.is_empty() && !self.written.split(' ').any(matches) {
            return None;
        }
        Some(if self.means.is_empty() { value } else { self.means })
    }
}

/// The options of a trainer, in rising precedence.
pub fn training_options(trainer: &str) -> impl Iterator<Item = TrainingOption> {
    rows(trainer).filter(|option| option.key != DEFAULT)
}

/// What a trainer does when nothing is stated, by field.
pub fn training_defaults(trainer: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    rows(trainer).filter(|option| option.key == DEFAULT).map(|option| (option.field, option.means))
}

/// Bytes of optimizer state per trained parameter on the GPU: with 32-bit states, and where states take the 16-bit type
/// of the weights. The name may be a class (`torch.optim.AdamW`). Paged states wait in host memory while memory is short.
pub fn optimizer_state_bytes(name: &str) -> Option<(f64, f64)> {
    let name = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let row =
        OPTIMIZERS.rows().find(|r| r.text("optimizer") == name || r.words("aliases").any(|alias| alias == name))?;
    Some((row.number("state_bytes")?, row.number("state_bytes_16bit")?))
}

fn rows(trainer: &str) -> impl Iterator<Item = TrainingOption> {
    let of = move |row: &Row| row.words("trainer").any(|name| name == trainer);
    TRAINING_OPTIONS.rows().filter(of).map(|row| TrainingOption {
        field: row.text("field"),
        key: row.text("key"),
        written: row.text("written"),
        means: row.text("means"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings(trainer: &str, key: &str, value: &str) -> Vec<(&'static str, String)> {
        let options = training_options(trainer).filter(|option| option.key == key);
        options.filter_map(|o| Some((o.field, o.meaning(value)?.to_owned()))).collect()
    }

    #[test]
    fn a_value_means_what_the_row_of_its_pattern_says() {
        assert_eq!(meanings("axolotl", "flash_attention", "true"), [("attention", "flash_attention_2".into())]);
        assert_eq!(meanings("axolotl", "flash_attention", "false"), []);
        assert_eq!(
            meanings("transformers", "fsdp", "full_shard auto_wrap"),
            [("stack", "fsdp".into()), ("zero_stage", "3".into())]
        );
        assert_eq!(optimizer_state_bytes("torch.optim.AdamW"), Some((8.0, 4.0)));
        assert_eq!(meanings("axolotl", "lora_r", "32"), [("lora_rank", "32".into())]);
    }
}
