// How schemas are kept: shared by `build.rs`, which packs `schemas/*/*.json`, and `pack.rs`, which reads them.

use serde::{Deserialize, Serialize};

/// A node of a schema. Children are numbers of nodes of the same pack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node<'p> {
    /// The types that a value may have, bits of [`types`]; none for any.
    pub types: u8,
    /// Bits of [`flags`].
    pub flags: u16,
    /// Fields by their names, sorted.
    #[serde(borrow)]
    pub properties: Vec<(&'p str, u32)>,
    /// Fields that must stand there.
    pub required: Vec<&'p str>,
    /// What other fields are.
    pub additional: Option<u32>,
    /// What items are.
    pub items: Option<u32>,
    /// Exactly one of these holds.
    pub one_of: Vec<u32>,
    /// At least one of these holds.
    pub any_of: Vec<u32>,
    /// All of these hold.
    pub all_of: Vec<u32>,
    /// This does not hold.
    pub not: Option<u32>,
    /// The values that are allowed, each in JSON; empty for any.
    pub choices: Vec<&'p str>,
    /// What numbers, texts and collections are held against.
    pub limits: Vec<Limit<'p>>,
    /// What holds where nothing stands, in JSON.
    pub default: Option<&'p str>,
    /// Rules in CEL about the value.
    pub rules: Vec<CelRule<'p>>,
    /// The fields that tell items of a list apart, be it to patches alone.
    pub keys: Vec<&'p str>,
}

/// A limit of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Limit<'p> {
    /// A text has a part that this regular expression matches.
    Pattern(&'p str),
    /// A text has a format.
    Format(&'p str),
    /// A number is not smaller.
    Minimum(f64),
    /// A number is larger.
    Above(f64),
    /// A number is not larger.
    Maximum(f64),
    /// A number is smaller.
    Below(f64),
    /// A number is a multiple.
    MultipleOf(f64),
    /// Characters of a text.
    Length(Option<u64>, Option<u64>),
    /// Items of a list.
    Items(Option<u64>, Option<u64>),
    /// Fields of an object.
    Fields(Option<u64>, Option<u64>),
}

/// A rule in CEL.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CelRule<'p> {
    /// What has to be true of `self`.
    pub rule: &'p str,
    /// What is said where it is not; empty where an expression says it.
    pub message: &'p str,
}

/// Types of values.
pub mod types {
    /// An object.
    pub const OBJECT: u8 = 1;
    /// A list.
    pub const ARRAY: u8 = 2;
    /// Text.
    pub const STRING: u8 = 4;
    /// A whole number.
    pub const INTEGER: u8 = 8;
    /// A number.
    pub const NUMBER: u8 = 16;
    /// true or false.
    pub const BOOLEAN: u8 = 32;
}

/// What else is known of a node.
pub mod flags {
    /// A whole number or text, whatever its type.
    pub const INT_OR_STRING: u16 = 2;
    /// An amount: `500m`, `16Gi`, 2.
    pub const QUANTITY: u16 = 4;
    /// Fields that are not named are kept.
    pub const PRESERVE: u16 = 8;
    /// An object of its own, with apiVersion, kind and metadata.
    pub const EMBEDDED: u16 = 16;
    /// The metadata of an object.
    pub const METADATA: u16 = 32;
    /// No other fields are allowed.
    pub const CLOSED: u16 = 64;
    /// Fields whose names begin with `x-` are the writer's own.
    pub const EXTENSIONS: u16 = 128;
    /// Names of fields, and values that are allowed, are taken whatever their case.
    pub const CASELESS: u16 = 256;
    /// null is a value.
    pub const NULLABLE: u16 = 512;
    /// It is written as a block of Terraform.
    pub const BLOCK: u16 = 1024;
    /// It is written as an argument of Terraform.
    pub const ARGUMENT: u16 = 2048;
    /// A provider of Terraform decides it.
    pub const COMPUTED: u16 = 4096;
    /// Items of a list differ.
    pub const SET: u16 = 8192;
    /// What reads it takes the words of older YAML for truth values.
    pub const TRUTHS: u16 = 16384;
}

/// Something that publishes schemas of kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project<'p> {
    /// Its name.
    pub name: &'p str,
    /// Where its schemas stand.
    pub source: &'p str,
    /// The releases that were read, ascending.
    #[serde(borrow)]
    pub releases: Vec<&'p str>,
    /// Charts that install it, whose versions are its releases.
    pub charts: Vec<&'p str>,
    /// Whether it is Kubernetes itself.
    pub is_core: bool,
}

/// A kind as one project serves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind<'p> {
    /// The group of the API; empty for the core group, and for documents that are no objects.
    pub group: &'p str,
    /// The version of the API; empty for documents that are no objects.
    pub version: &'p str,
    /// The kind, or what such a document is called.
    pub kind: &'p str,
    /// The place of its project.
    pub project: u16,
    /// Whether the project may fill in what is missing before it is held against the schema (a mutating webhook).
    pub mutated: bool,
    /// First and last release, by their places, and the schema that they serve.
    pub roots: Vec<(u16, u16, u32)>,
}
