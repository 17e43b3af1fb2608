//! Images that something here makes, by the texts that say so: commands that build, tag or push, and files of builders. Knows
//! how each writes the name of what it makes; the Dockerfile of it, where there is one, is told elsewhere.

use crate::known::{Fact, Why};
use crate::source::{SourceId, Span};
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

/// Commands that build, up to where their options begin; a line goes on behind a backslash.
/// <https://docs.docker.com/reference/cli/docker/buildx/build/>, <https://docs.podman.io/en/latest/markdown/podman-build.1.html>
const BUILDS: &str = r"\b(?:docker|podman|nerdctl|buildah|finch|buildctl|depot|az[ \t]+acr)\b(?:[^\n;&|\\]|\\\r?\n)*?[ \t](?:build|bud)\b(?P<options>(?:[^\n;&|\\]|\\\r?\n)*)";

/// The options of theirs that name what is made.
const TAGS: &str = r#"[\s](?:-t|--tag|--image)(?:[ \t]+|=)["']?(?P<name>(?:\$\{\{[^}]*\}\}|[^\s"';|&])+)"#;

/// How others write the names of images that they make.
const MADE: [&str; 7] = [
    r#"\b(?:docker|podman|nerdctl|buildah|finch)[ \t]+(?:image[ \t]+)?(?:tag|commit)[ \t]+\S+[ \t]+["']?(?P<name>(?:\$\{\{[^}]*\}\}|[^\s"';|&])+)"#,
    r#"\b(?:docker|podman|nerdctl|buildah|finch|crane)[ \t]+(?:image[ \t]+)?push[ \t]+(?:-\S+[ \t]+)*["']?(?P<name>(?:\$\{\{[^}]*\}\}|[^\s"';|&])+)"#,
    r#"\bskopeo[ \t]+copy\b[^\n]*?[ \t]["']?docker://\S+[ \t]+["']?docker://(?P<name>(?:\$\{\{[^}]*\}\}|[^\s"';|&])+)"#,
    // https://github.com/GoogleContainerTools/kaniko
    r#"--destination(?:[ \t]+|=)["']?(?P<name>[^\s"',\]]+)"#,
    // https://docs.earthly.dev/docs/earthfile#save-image
    r#"(?m)^[ \t]*SAVE IMAGE[ \t]+(?:--\S+[ \t]+)*(?P<name>\S+)"#,
    // https://docs.tilt.dev/api.html
    r#"\b(?:docker_build|custom_build|docker_build_with_restart)\(\s*(?:ref\s*=\s*)?["'](?P<name>[^"']+)"#,
    // https://github.com/bazel-contrib/rules_oci/blob/main/docs/push.md
    r#"\b(?:repository|repo_tags)\s*=\s*\[?\s*["'](?P<name>[^"']+)"#,
];

/// Words of which one stands in every text that makes an image.
const WORDS: [&str; 9] =
    ["build", " tag ", "push", "commit", "skopeo", "--destination", "SAVE IMAGE", "repo_tags", " bud "];

/// Most lookups of one variable in the value of another.
const CHAIN: usize = 3;

/// The patterns: of commands that build, of their tags, and of others.
struct Patterns {
    builds: Regex,
    tags: Regex,
    made: Vec<Regex>,
}

impl Patterns {
    fn get() -> Option<&'static Self> {
        static READ: OnceLock<Option<Patterns>> = OnceLock::new();
        let read = || {
            let made = MADE.iter().map(|pattern| Regex::new(pattern).ok()).collect::<Option<_>>()?;
            Some(Self { builds: Regex::new(BUILDS).ok()?, tags: Regex::new(TAGS).ok()?, made })
        };
        READ.get_or_init(read).as_ref()
    }

    /// Where the names stand in a text.
    fn names(&self, text: &str) -> Vec<Range<usize>> {
        let options = self.builds.captures_iter(text).filter_map(|command| Some(command.name("options")?.range()));
        let tags = options.flat_map(|options| {
            let tags =
                self.tags.captures_iter(&text[options.clone()]).filter_map(|tag| Some(tag.name("name")?.range()));
            tags.map(|tag| options.start + tag.start..options.start + tag.end).collect::<Vec<_>>()
        });
        let others = self.made.iter().flat_map(|pattern| pattern.captures_iter(text));
        tags.chain(others.filter_map(|made| Some(made.name("name")?.range()))).collect()
    }
}

/// The images that a text says something makes, by their names without tags.
pub fn of_text(id: SourceId, text: &str) -> Vec<(String, Fact<String>)> {
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let names = Patterns::get().map(|patterns| patterns.names(text)).unwrap_or_default();
    let open = names.iter().any(|name| text[name.clone()].contains('$'));
    let variables = if open { variables(text) } else { BTreeMap::new() };
    let named = |name: Range<usize>| Some((name_of(&text[name.clone()], &variables)?, left(Span::new(id, name))));
    names.into_iter().filter_map(named).collect()
}

/// Parts of names that only a run of a pipeline knows, as patterns, with how many parts each is.
/// <https://docs.github.com/en/actions/reference/workflows-and-actions/contexts>, <https://docs.gitlab.com/ci/variables/predefined_variables/>
const OPEN: [(&str, &str); 4] = [
    (r"\$\{\{\s*github\.repository\s*\}\}|\$\{?GITHUB_REPOSITORY\b\}?", "*/*"),
    (r"\$\{\{\s*(?:github\.(?:repository_owner|actor|event\.repository\.name)|(?:secrets|vars)\.\w+)\s*\}\}", "*"),
    (r"\$\{?GITHUB_(?:REPOSITORY_OWNER|ACTOR)\b\}?|\$\{?CI_(?:REGISTRY|PROJECT_NAME)\b\}?", "*"),
    (r"\$\{?CI_REGISTRY_IMAGE\b\}?", "*/*/*"),
];

/// A name with a `*` for each part that only a run of a pipeline knows.
pub fn left_open(name: &str) -> String {
    static READ: OnceLock<Option<Vec<(Regex, &str)>>> = OnceLock::new();
    if !name.contains('$') {
        return name.to_owned();
    }
    let read = || OPEN.iter().map(|(pattern, parts)| Some((Regex::new(pattern).ok()?, *parts))).collect();
    let patterns = READ.get_or_init(read).iter().flatten();
    patterns.fold(name.to_owned(), |name, (pattern, parts)| pattern.replace_all(&name, *parts).into_owned())
}

/// What makes an image without a Dockerfile that is known.
pub fn left(place: Span) -> Fact<String> {
    Fact::unknown(Why::LeftTo("what builds the image".into()), place)
}

/// What the text itself gives its variables: `NAME=value`, `NAME ?= value`, `NAME: value`, `${NAME:-value}`.
fn variables(text: &str) -> BTreeMap<&str, &str> {
    static STATED: OnceLock<Option<Regex>> = OnceLock::new();
    const PATTERN: &str = r#"(?m)^[ \t]*(?:-[ \t]*)?(?:export[ \t]+|ARG[ \t]+|ENV[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*(?:[:?+]?=|:)[ \t]*["']?(?P<value>[^\s"'#]+)"#;
    let Some(stated) = STATED.get_or_init(|| Regex::new(PATTERN).ok()) else { return BTreeMap::new() };
    let pair = |c: Captures<'_>| Some((c.name("name")?.range(), c.name("value")?.range()));
    stated.captures_iter(text).filter_map(pair).map(|(name, value)| (&text[name], &text[value])).collect()
}

/// A name without its tag, with the variables that have a value put in; `None` where the name itself is left open.
fn name_of(written: &str, variables: &BTreeMap<&str, &str>) -> Option<String> {
    static USED: OnceLock<Option<Regex>> = OnceLock::new();
    const PATTERN: &str =
        r"\$\{\{\s*env\.(?P<c>\w+)\s*\}\}|\$[({](?P<a>\w+)(?::?-(?P<default>[^})]*))?[)}]|\$(?P<b>\w+)";
    let used = USED.get_or_init(|| Regex::new(PATTERN).ok()).as_ref()?;
    let mut name = left_open(written);
    for _ in 0..CHAIN {
        let value = |c: &Captures<'_>| {
            let called = ["a", "b", "c"].iter().find_map(|group| c.name(group)).map_or("", |found| found.as_str());
            let value = variables.get(called).copied().or(c.name("default").map(|found| found.as_str()));
            value.unwrap_or(&c[0]).to_owned()
        };
        let filled = used.replace_all(&name, value).into_owned();
        if filled == name || filled.len() > 4 * written.len() + 1024 {
            break;
        }
        name = filled;
    }
    let untagged = match name.rsplit_once(':') {
        Some((untagged, tag)) if !tag.contains('/') => untagged,
        _ => name.split('@').next().unwrap_or_default(),
    };
    let clear = !untagged.is_empty() && !untagged.contains(['$', '{', '<', '%', '(']) && !untagged.starts_with('-');
    clear.then(|| untagged.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Vec<String> {
        of_text(SourceId(0), text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn every_builder() {
        for (text, name) in [
            ("docker build --pull -t team/serve:latest docker/\n", "team/serve"),
            ("docker buildx build \\\n  --platform linux/amd64 \\\n  --tag=team/serve:$(TAG) .\n", "team/serve"),
            ("IMG ?= registry.example/serve\nall:\n\tdocker build -t $(IMG):latest .\n", "registry.example/serve"),
            ("env:\n  IMAGE: ghcr.io/team/serve\nrun: docker push ${{ env.IMAGE }}:main\n", "ghcr.io/team/serve"),
            ("podman build -t ${REGISTRY:-quay.io/team}/serve .\n", "quay.io/team/serve"),
            ("docker tag local quay.io/team/serve:dev\n", "quay.io/team/serve"),
            ("      - --destination=registry.example/serve:latest\n", "registry.example/serve"),
            ("    SAVE IMAGE --push team/serve:latest\n", "team/serve"),
            ("docker_build('team/serve', '.')\n", "team/serve"),
            ("oci_push(\n    repository = \"registry.example/serve\",\n # build\n)\n", "registry.example/serve"),
            ("docker push ghcr.io/${{ github.repository }}/serve:latest\n", "ghcr.io/*/*/serve"),
            ("docker build -t $CI_REGISTRY_IMAGE/serve:$CI_COMMIT_SHA .\n", "*/*/*/serve"),
            ("docker push ${{ secrets.DOCKERHUB_USERNAME }}/serve:latest\n", "*/serve"),
            ("az acr build --registry r --image team/serve:v1 .\n", "team/serve"),
        ] {
            assert_eq!(made(text), [name], "{text}");
        }
    }

    #[test]
    fn names_that_are_left_open_or_only_used() {
        for text in [
            "docker build -t $UNKNOWN .\n",
            "docker run -t team/serve build\n",
            "docker pull team/serve # build\n",
            "make build\n",
        ] {
            assert!(made(text).is_empty(), "{text}");
        }
    }
}
