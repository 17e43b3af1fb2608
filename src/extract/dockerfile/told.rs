//! Dockerfiles as a build is told to read them: with arguments, other images to start from, for a platform.

use super::{Line, stages};
use crate::extract::image;
use crate::facts::{Build, Labels};
use crate::known::{Fact, Why};
use crate::parse::dockerfile;
use crate::source::{SourceId, Traced};

/// What a build is told beside its Dockerfile.
pub struct Told {
    /// Arguments.
    pub arguments: Labels,
    /// What stands for images that it starts from, by their names there.
    pub contexts: Labels,
    /// The platform that it builds for.
    pub platform: Option<Fact<String>>,
}

/// The stages as they are built when it is told that much; none where it makes no difference.
pub fn built_with(id: SourceId, path: &str, text: &str, told: &Told) -> Vec<Build> {
    let lines = dockerfile::parse(id, text).instructions;
    let of = |keyword: &'static str| lines.iter().filter(move |line| line.keyword == keyword);
    let takes = of("ARG").flat_map(Line::assignments).any(|a| told.arguments.contains_key(a.name.text()));
    let starts = of("FROM").filter_map(Line::base).any(|base| told.contexts.contains_key(base.image.text()));
    if !takes && !starts && told.platform.is_none() {
        return Vec::new();
    }
    let mut stages = stages(&lines, path, &told.arguments).0;
    for stage in &mut stages {
        let platform = stage.base.platform.clone();
        if let Some(context) = stage.from.get().and_then(|name| told.contexts.get(name)) {
            let image = context.get().and_then(|context| context.strip_prefix("docker-image://"));
            stage.base = match image {
                Some(image) => image::reference(&Traced::opaque(image, context.span)),
                None => image::unknown(Why::Remote("another build".into()), context.span),
            };
        }
        stage.base.platform = if platform.is_absent() { told.platform.clone().unwrap_or(platform) } else { platform };
    }
    stages
}
