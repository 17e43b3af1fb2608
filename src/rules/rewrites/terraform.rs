//! Terraform: values from locals and variables, and modules.

use super::{Question, Rewrite, each, ends};
use crate::rules::examples::Files;

pub(super) const ALL: &[Rewrite] = &[
    Rewrite {
        name: "terraform-locals",
        about: "texts of resources are local values",
        question: Question::References,
        unless: &[],
        apply: |files| {
            each(files, is_terraform, |text| {
                named(text, &|i, value| {
                    (format!("local.rewritten_{i}"), format!("\nlocals {{\n  rewritten_{i} = {value}\n}}\n"))
                })
            })
        },
    },
    Rewrite {
        name: "terraform-variables",
        about: "texts of resources are the defaults of variables",
        question: Question::References,
        unless: &[],
        apply: |files| {
            each(files, is_terraform, |text| {
                named(text, &|i, value| {
                    (
                        format!("var.rewritten_{i}"),
                        format!("\nvariable \"rewritten_{i}\" {{\n  type    = string\n  default = {value}\n}}\n"),
                    )
                })
            })
        },
    },
    Rewrite {
        name: "terraform-module",
        about: "the resources stand in a module of the root",
        question: Question::Places,
        unless: &[],
        apply: module,
    },
];

fn is_terraform(path: &str) -> bool {
    ends(path, &[".tf"])
}

/// Names the texts that resources state on lines of their own.
fn named(text: &str, name: &dyn Fn(usize, &str) -> (String, String)) -> Option<String> {
    if text.contains("<<") {
        return None;
    }
    let (mut out, mut stated, mut count, mut inside) = (String::new(), String::new(), 0, false);
    for line in text.lines() {
        inside = match line {
            "}" => false,
            _ => inside || line.starts_with("resource \""),
        };
        // What stands here must be known before anything is made.
        let literal = ["provider", "lifecycle", "source"].iter().all(|word| !line.trim_start().starts_with(word));
        let parts = line.split_once(" = ").filter(|(key, value)| {
            let whole = value.len() > 2 && value.starts_with('"') && value.ends_with('"');
            inside
                && literal
                && line.starts_with(' ')
                && whole
                && !key.trim().contains(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                && value.matches('"').count() == 2
                && !value.contains(['$', '%'])
        });
        match parts {
            Some((key, value)) => {
                let (reference, statement) = name(count, value);
                out += &format!("{key} = {reference}\n");
                stated += &statement;
                count += 1;
            }
            None => out += &format!("{line}\n"),
        }
    }
    (count > 0).then(|| out + &stated)
}

fn module(files: &Files) -> Option<Files> {
    let mut out = Files::new();
    for (path, text) in files {
        let elsewhere =
            path.contains('/') || ["backend \"", "path.", "templatefile"].iter().any(|word| text.contains(word));
        if !is_terraform(path) || elsewhere {
            return None;
        }
        out.push((format!("modules/stack/{path}"), text.clone()));
    }
    out.push(("main.tf".to_owned(), "module \"stack\" {\n  source = \"./modules/stack\"\n}\n".to_owned()));
    Some(out)
}
