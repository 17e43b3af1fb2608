//! What clouds do with data at rest, with keys, with TLS, with who comes in and with what is spent, and where their resources
//! state it. Knows no files.

use super::table::{Patterned, Row};
use super::tables::{
    BALANCER_DEFAULTS, ENDPOINTS, KEY_FORMS, KEY_REFERENCES, KEYS, LOAD_BALANCERS, OPENINGS, SCALING_ALARMS,
    SCALING_POLICIES, SPENDING_LIMITS, STORES, TLS_POLICIES,
};
use crate::version::Version;
use std::sync::LazyLock;

/// Where a type of resource states a store. Paths are dotted; of several the first one that is stated counts.
#[derive(Debug, Clone, Copy)]
pub struct StoreShape(Row);

/// Where a type of resource states a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyShape(Row);

/// Where a type of resource names a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyReferenceShape(Row);

/// Where a type of resource states an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct EndpointShape(Row);

/// Where a type of resource states what a network lets in.
#[derive(Debug, Clone, Copy)]
pub struct OpeningShape(Row);

/// Where a type of resource states how much may be spent.
#[derive(Debug, Clone, Copy)]
pub struct SpendingShape(Row);

/// Where a type of resource states how something is scaled.
#[derive(Debug, Clone, Copy)]
pub struct ScalingShape(Row);

/// Where a type of resource that is an alarm states what calls a policy.
#[derive(Debug, Clone, Copy)]
pub struct ScalingAlarm(Row);

/// The stores that a type of resource, or the provisioner of a StorageClass, states.
pub fn stores_of(kind: &str) -> impl Iterator<Item = StoreShape> {
    STORES.rows().filter(move |row| row.text("type") == kind).map(StoreShape)
}

/// The key that a type of resource states.
pub fn key_of(kind: &str) -> Option<KeyShape> {
    KEYS.find("type", kind).map(KeyShape)
}

/// Where a type of resource, or the provisioner of a StorageClass, names keys.
pub fn key_references_of(kind: &str) -> impl Iterator<Item = KeyReferenceShape> {
    KEY_REFERENCES.about(kind).map(KeyReferenceShape)
}

/// The endpoints that a type of resource or a kind of object states.
pub fn endpoints_of(kind: &str) -> impl Iterator<Item = EndpointShape> {
    ENDPOINTS.rows().filter(move |row| row.text("type") == kind).map(EndpointShape)
}

/// What a type of resource lets into a network.
pub fn openings_of(kind: &str) -> impl Iterator<Item = OpeningShape> {
    OPENINGS.rows().filter(move |row| row.text("type") == kind).map(OpeningShape)
}

/// Who reaches a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Whoever reaches the addresses that are written there.
    Addresses,
    /// Something else decides: a pool of addresses, the controller.
    Elsewhere,
    /// The private network.
    Private,
    /// The internet.
    Public,
}

impl Reach {
    fn of(row: Row) -> Option<Self> {
        Some(match row.text("reach") {
            "addresses" => Self::Addresses,
            "elsewhere" => Self::Elsewhere,
            "private" => Self::Private,
            "public" => Self::Public,
            _ => return None,
        })
    }
}

/// Whether what is called so asks for a credential: an annotation, a label, a middleware.
pub fn names_login(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| word.contains("auth") && !matches!(word, "author" | "authors") || matches!(word, "oidc" | "sso"))
}

/// Whether an annotation may say who reaches a load balancer.
pub fn is_about_reach(annotation: &str) -> bool {
    LOAD_BALANCERS.names(annotation)
}

/// Who reaches a load balancer with this annotation; `None` where this value decides nothing.
pub fn reach_of_annotation(annotation: &str, value: &str) -> Option<Reach> {
    let says = |row: &Row| row.text("value").is_empty() || row.text("value").eq_ignore_ascii_case(value);
    LOAD_BALANCERS.about(annotation).find(says).and_then(Reach::of)
}

/// Who reaches a load balancer by default that a platform, or the controller of a class, makes.
pub fn default_reach(made_by: &str) -> Option<Reach> {
    BALANCER_DEFAULTS.find("made_by", made_by).and_then(Reach::of)
}

/// The limit of spending that a type of resource states.
pub fn spending_limit_of(kind: &str) -> Option<SpendingShape> {
    SPENDING_LIMITS.find("type", kind).map(SpendingShape)
}

/// The policy of scaling that a type of resource states.
pub fn scaling_policy_of(kind: &str) -> Option<ScalingShape> {
    SCALING_POLICIES.find("type", kind).map(ScalingShape)
}

/// The alarm that a type of resource states.
pub fn scaling_alarm_of(kind: &str) -> Option<ScalingAlarm> {
    SCALING_ALARMS.find("type", kind).map(ScalingAlarm)
}

/// Declares what a shape says: the text of a column.
macro_rules! columns {
    ($shape:ident: $($(#[doc = $doc:literal])+ $column:ident,)+) => {
        impl $shape {
            $($(#[doc = $doc])+
            pub fn $column(self) -> &'static str {
                self.0.text(stringify!($column))
            })+
        }
    };
}

columns! { StoreShape:
    /// The blocks of which each is a store; blank where the resource is.
    at,
    /// What it is.
    role,
    /// What says whether it is encrypted; blank where nothing does.
    encrypted,
    /// What encrypts it by being stated.
    key,
    /// Whether it is encrypted when nothing is said; blank where that is not known.
    default,
    /// The type of the resource that encrypts all of its kind in an account.
    switch,
    /// What says who may read it.
    access,
    /// The words for everyone.
    public,
    /// What it is called in its cloud.
    names,
}

columns! { KeyReferenceShape:
    /// What names a key.
    at,
    /// The form that such a name has.
    form,
    /// What the key encrypts, where that keeps data.
    role,
    /// What says in which zone, location or region the key is used.
    place,
}

impl KeyReferenceShape {
    /// Whether that is the region of the provider where nothing is said.
    pub fn is_of_provider(self) -> bool {
        self.0.flag("of_provider") == Some(true)
    }
}

columns! { KeyShape:
    /// The conditions under which a key can be rotated by itself: `path=word|word`, a blank word for nothing stated.
    applies,
    /// What says whether it is.
    rotates,
    /// After how long.
    period,
    /// What a plain number of that is.
    unit,
    /// Whether it is when nothing is said; blank where that is not known.
    default,
}

columns! { OpeningShape:
    /// The blocks of which each lets something in; blank where the resource does.
    at,
    /// The conditions under which it does: `path=word|word`.
    applies,
    /// Ports and ranges of ports, as texts.
    ports,
    /// The first port of a range.
    from,
    /// The last port of it.
    to,
    /// Where from, in the block or in the resource.
    sources,
    /// The words for everywhere.
    public,
}

columns! { SpendingShape:
    /// How much may be spent.
    amount,
    /// Shares of it at which somebody is told.
    alerts,
    /// Whether these are percents or fractions.
    unit,
    /// Where something stands (`path=word`: is this) that tells in another way.
    unless,
}

columns! { ScalingShape:
    /// The block that states it; blank where the resource does.
    at,
    /// What it scales on.
    metric,
    /// Seconds that it waits before it takes capacity away.
    inward,
    /// Seconds that it waits before it adds capacity.
    outward,
    /// What it scales.
    target,
    /// What names the alarm that calls it.
    alarm,
}

columns! { ScalingAlarm:
    /// What it watches.
    metric,
    /// What it calls.
    actions,
}

columns! { EndpointShape:
    /// The blocks of which each is an endpoint; blank where the resource is.
    at,
    /// The condition under which it speaks TLS: `path=word|word`.
    applies,
    /// What says which versions it accepts.
    tls,
    /// What holds when nothing is said: `none` where it is then no endpoint; blank where that is not known.
    default,
    /// What says which ciphers it accepts.
    ciphers,
}

/// Whether a text names a key in a form; `None` for a form that is not known.
pub fn is_key(form: &str, text: &str) -> Option<bool> {
    static FORMS: LazyLock<Vec<Patterned>> = LazyLock::new(|| Patterned::all(&KEY_FORMS, "pattern"));
    let known = FORMS.iter().find(|known| known.row.text("form") == form)?;
    known.row.used();
    Some(known.is_about(text))
}

/// The oldest version of TLS that a policy or a list of versions lets through.
pub fn tls_minimum(text: &str) -> Option<Version> {
    if let Some(row) = TLS_POLICIES.find("policy", text) {
        return row.version("minimum");
    }
    text.split([' ', ','])
        .filter(|word| !word.is_empty())
        .map(tls_version)
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .min()
}

/// The version in a name such as TLS1_0, TLS_1_2, TLSv1, Tls13; of SSL, `0.` and its version.
fn tls_version(name: &str) -> Option<Version> {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let version = match (name.to_ascii_lowercase().starts_with("ssl"), digits.len()) {
        (true, 1) => format!("0.{digits}"),
        (false, 1) => format!("{digits}.0"),
        (false, 2) => format!("{}.{}", &digits[..1], &digits[1..]),
        _ => return None,
    };
    Version::parse(&version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_tls_by_every_spelling() {
        for (text, minimum) in [
            ("TLS1_0", "1.0"),
            ("TLS_1_2", "1.2"),
            ("TLSV1_3", "1.3"),
            ("1.2", "1.2"),
            ("Tls12", "1.2"),
            ("TLSv1.2 TLSv1 TLSv1.1", "1.0"),
            ("TLSv1.2 SSLv3", "0.3"),
            ("ELBSecurityPolicy-FS-1-1-2019-08", "1.1"),
            ("TLSv1_2016", "1.0"),
        ] {
            assert_eq!(tls_minimum(text).map(|v| v.to_string()).as_deref(), Some(minimum), "{text}");
        }
        assert_eq!(tls_minimum("my-policy-2024"), None);
        assert_eq!(tls_minimum(""), None);
    }
}
