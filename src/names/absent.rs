//! Paths that files name and that nothing has in the repository. Knows from where such paths are seen; nothing is said of
//! what is ignored, was not looked at, or may be made by a script.

use super::Broken;
use crate::facts::{Breach, BreachClass, Facts, Listing, NamedPath, PathRole};
use crate::known::Fact;
use crate::paths;
use crate::source::{SourceId, Sources, Span};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// So many paths are looked for in the texts of other files.
const MOST: usize = 64;

/// Ends of the names of files that people write, which a Dockerfile copies.
const WRITTEN: [&str; 9] = [".cfg", ".conf", ".json", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"];

/// What is named and nowhere there.
pub fn paths(facts: &Facts, files: &Sources, wanted: &impl Fn(Span) -> bool) -> Vec<Breach> {
    let Some(listing) = &facts.listing else { return Vec::new() };
    let repository = Repository { listing, files };
    // A list of charts need not say what they are for: the chart that is meant does.
    let spoken = OnceCell::new();
    let directories = || {
        let of_gpus = files.iter().filter(|(id, _)| wanted(Span::new(*id, 0..0)));
        of_gpus.flat_map(|(_, file)| paths::parts(paths::directory(&file.path))).collect::<BTreeSet<_>>()
    };
    let meant = |NamedPath { path, role }: &NamedPath| {
        let chart = path.get().filter(|_| *role == PathRole::Chart);
        chart.is_some_and(|path| spoken.get_or_init(directories).contains(paths::name(path)))
    };
    let of_jobs = facts.paths.iter().filter(|named| wanted(named.path.span) || meant(named));
    let of_jobs = of_jobs.filter_map(|NamedPath { path, role }| Some((path.get()?, path.span, Named::By(*role))));
    // Where the directory above it is one of the repository, it is missing whatever else the file is about.
    let rooted = |path: &str| {
        path.split_once('/').is_some_and(|(first, _)| {
            listing.roots.iter().any(|root| listing.there.contains(&paths::join(root, first)))
        })
    };
    let copied = facts.builds.iter().filter(|build| build.tool.is_absent());
    let copied = copied.flat_map(|build| build.copies.iter().map(move |path| (build, path)));
    let copied = copied.filter_map(|(build, path)| {
        let text = path.get()?;
        (wanted(build.span) || rooted(text)).then_some((text, path.span, Named::Copied))
    });
    let mut told = BTreeSet::new();
    let once = of_jobs.chain(copied).filter(|(path, span, _)| told.insert((span.source, path.as_str())));
    let absent = once.filter(|(path, span, named)| repository.lacks(path, span.source, *named)).take(MOST);
    let absent = absent.filter(|(path, span, named)| !repository.may_make(path, span.source, *named));
    absent.map(|(path, span, named)| breach(path, span, named)).collect()
}

/// Who names a path.
#[derive(Debug, Clone, Copy)]
enum Named {
    By(PathRole),
    Copied,
}

fn breach(path: &str, span: Span, named: Named) -> Breach {
    let says = match named {
        Named::By(PathRole::Run) => {
            format!("there is no {path} in this repository, from wherever the job is submitted: the job fails")
        }
        Named::By(PathRole::Chart) => {
            format!(
                "there is no {path} as seen from this file, which helmfile counts from: the release is not installed"
            )
        }
        Named::Copied => format!("there is no {path} in this repository, whatever the context is: the build fails"),
    };
    let class = Fact::value(BreachClass::PathNotFound, span);
    Broken { class, says, meant: None, instead: None }.entity(Fact::value(path.to_owned(), span))
}

struct Repository<'a> {
    listing: &'a Listing,
    files: &'a Sources,
}

impl Repository<'_> {
    /// Whether no directory from a file up to the root of its repository leads to a path, nothing else there is called like
    /// it, and nothing is seen that might make it.
    fn lacks(&self, path: &str, by: SourceId, named: Named) -> bool {
        let Listing { there, closed, ignored, roots, .. } = self.listing;
        let file = self.files.get(by).path.as_str();
        let below = |path: &str, root: &str| {
            root.is_empty() && !path.starts_with('/')
                || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
        };
        let Some(root) = roots.iter().find(|root| below(file, root)).filter(|_| there.contains(file)) else {
            return false;
        };
        if path.contains(['$', '%', '*', '?', '{', '<', '~', '[', ':', ' ', '\\']) {
            return false;
        }
        if matches!(named, Named::By(PathRole::Chart)) {
            return self.lacks_chart(path, file, root);
        }
        let path = match named {
            Named::Copied => path.trim_start_matches('/'),
            Named::By(_) if path.starts_with('/') => return false,
            Named::By(_) => path,
        };
        let parts: Vec<&str> = paths::parts(path).filter(|part| *part != "..").collect();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
        let likely = match named {
            // What stands alone, and what is in a directory that nobody has, is there to be put in.
            Named::By(PathRole::Run) => parts.len() > 1 && (path.starts_with("../") || self.is_directory(first)),
            Named::By(PathRole::Chart) => true,
            Named::Copied => WRITTEN.iter().any(|end| last.ends_with(end)),
        };
        if !likely || ignored.iter().any(|line| parts.iter().any(|part| may_name(line, part))) {
            return false;
        }
        let end = format!("/{}", parts.join("/"));
        let is = |other: &String| other.ends_with(&end) || *other == end[1..];
        if there.iter().any(is) || closed.iter().any(|other| is(other) || paths::name(other) == *first) {
            return false;
        }
        let above = paths::above(paths::directory(file)).take_while(|above| *above == root || below(above, root));
        let seen: Vec<String> = above
            .map(|above| paths::join(above, path))
            .filter(|path| root.is_empty() && !path.starts_with("..") || below(path, root))
            .collect();
        // What stands in an empty directory is brought there: a submodule, a mount.
        !seen.is_empty() && !seen.iter().any(|path| self.is_in_empty(path))
    }

    /// Whether no directory stands at a path that counts from a file, where a chart of that name stands elsewhere: what is
    /// nowhere may be fetched first.
    fn lacks_chart(&self, path: &str, file: &str, root: &str) -> bool {
        let Listing { there, ignored, .. } = self.listing;
        let at = paths::join(paths::directory(file), path);
        let (name, inner) = (paths::name(&at), format!("{at}/"));
        let inside = if root.is_empty() { !at.starts_with("..") } else { at.starts_with(&format!("{root}/")) };
        let stands =
            || there.contains(&at) || there.range(inner.clone()..).next().is_some_and(|one| one.starts_with(&inner));
        let chart = format!("/{name}/Chart.yaml");
        inside
            && !stands()
            && !is_closed(self.listing, &at)
            && !ignored.iter().any(|line| may_name(line, name))
            && !self.is_in_empty(&at)
            && there.iter().any(|one| one.ends_with(&chart) || one.as_str() == &chart[1..])
    }

    /// Whether what is copied may be made by what another file that was read says of its name.
    fn may_make(&self, path: &str, by: SourceId, named: Named) -> bool {
        let mut others = self.files.iter().filter(|(id, _)| *id != by).map(|(_, source)| &*source.text);
        matches!(named, Named::Copied) && others.any(|text| text.contains(paths::name(path)))
    }

    fn is_directory(&self, name: &str) -> bool {
        let inner = format!("/{name}/");
        self.listing.there.iter().any(|path| path.contains(&inner) || path.starts_with(&inner[1..]))
    }

    fn is_in_empty(&self, path: &str) -> bool {
        let above = paths::above(paths::directory(path)).find(|above| self.listing.there.contains(*above));
        above.filter(|above| !above.is_empty()).is_some_and(|above| {
            let inner = format!("{above}/");
            let next = self.listing.there.range(inner.clone()..).next();
            !next.is_some_and(|path| path.starts_with(&inner))
        })
    }
}

/// Whether nobody looked at what stands at a path or around it.
pub fn is_closed(listing: &Listing, path: &str) -> bool {
    paths::above(path).any(|above| !above.is_empty() && listing.closed.contains(above))
}

/// Whether a line of an ignore file may be about something of a name.
pub fn may_name(line: &str, name: &str) -> bool {
    let one = |part: &str| match part.split_once('*') {
        None => part == name,
        Some((head, tail)) => {
            let mut between = tail.split('*').collect::<Vec<_>>();
            let end = between.pop().unwrap_or_default();
            name.starts_with(head) && name.ends_with(end) && between.iter().all(|part| name.contains(part))
        }
    };
    // What is below something that has a name is not told by the stars behind it.
    let is_named = |part: &&str| part.contains(|c| c != '*');
    let mut named = line.split('/').filter(is_named).peekable();
    let anything = !line.is_empty() && named.peek().is_none();
    !line.starts_with(['#', '!']) && (anything || named.any(one))
}
