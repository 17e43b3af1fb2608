//! Which attribute of which resource type states what of a pool.

mod aws;
mod google_and_azure;
mod others;

/// Where a resource type states the facts of a pool; paths step into the first item of a sequence.
pub(super) struct Shape {
    pub kind: &'static str,
    pub platform: &'static str,
    /// Whether it is a machine by itself, and no group that a cluster may have made its own.
    pub lone: bool,
    pub types: &'static [&'static str],
    pub count: (&'static str, &'static str),
    /// The number of machines of what nothing scales by itself.
    pub size: &'static str,
    /// The size of the disk that a machine starts from; `list[key=word].path` is about the item of which the condition holds.
    pub disk_gb: &'static str,
    pub image: &'static str,
    pub release: &'static str,
    pub labels: &'static str,
    pub taints: &'static str,
    /// Conditions `path=word|word` of which one holds for machines that may be taken away; `*` stands for anything stated.
    pub spot: &'static str,
    /// Paths of which the first that is stated holds; `[]` behind a key stands for each item of its list.
    pub zones: &'static str,
}

const NONE: Shape = Shape {
    kind: "",
    platform: "",
    lone: false,
    types: &[],
    count: ("", ""),
    size: "",
    disk_gb: "",
    image: "",
    release: "",
    labels: "",
    taints: "",
    spot: "",
    zones: "",
};

/// Where a resource type that is a pool states its facts.
pub(super) fn of(kind: &str) -> Option<&'static Shape> {
    let all = [aws::AWS, google_and_azure::GOOGLE_AND_AZURE, others::OTHERS];
    all.into_iter().flatten().find(|shape| shape.kind == kind)
}
