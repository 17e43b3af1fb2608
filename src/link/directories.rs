//! The directories of a run as a tree: how far the ways to two files are one, and what lies below a directory. Knows paths
//! only.

use crate::source::{SourceId, Sources};
use std::collections::HashMap;

/// A directory. Those below it come directly after it, so that they are a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dir(u32);

impl Dir {
    /// The directory that display paths start from.
    pub const ROOT: Dir = Dir(0);

    /// Its number: those below it have the numbers directly after it.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The one that comes directly after it.
    pub fn next(self) -> Dir {
        Dir(self.0 + 1)
    }
}

struct Node<'s> {
    name: &'s str,
    parent: Dir,
    /// The first directory after those below it.
    end: Dir,
}

/// The directories of a run.
pub struct Directories<'s> {
    sources: &'s Sources,
    of: Vec<Dir>,
    nodes: Vec<Node<'s>>,
    /// Those of which every part of the path is `..`.
    outside: Vec<Dir>,
}

impl<'s> Directories<'s> {
    /// Where the files of a run stand.
    pub fn of(sources: &'s Sources) -> Self {
        let path = |id: SourceId| sources.get(id).path.rsplit_once('/').map(|(directory, _)| directory);
        let mut paths: Vec<&str> = sources.iter().filter_map(|(id, _)| path(id)).collect();
        paths.dedup();
        paths.sort_unstable_by(|a, b| a.split('/').cmp(b.split('/')));
        paths.dedup();
        let mut nodes = vec![Node { name: "", parent: Dir::ROOT, end: Dir::ROOT }];
        let mut outside = vec![Dir::ROOT];
        let mut known = HashMap::with_capacity(paths.len());
        let mut open = vec![Dir::ROOT];
        for path in paths {
            let parts: Vec<&str> = path.split('/').collect();
            let same = |(dir, part): &(&Dir, &&str)| nodes[dir.0 as usize].name == **part;
            let shared = open[1..].iter().zip(&parts).take_while(same).count();
            let end = Dir(nodes.len() as u32);
            open.drain(shared + 1..).for_each(|closed| nodes[closed.0 as usize].end = end);
            for name in &parts[shared..] {
                let parent = open[open.len() - 1];
                let dir = Dir(nodes.len() as u32);
                outside.extend((*name == ".." && outside.contains(&parent)).then_some(dir));
                open.push(dir);
                nodes.push(Node { name, parent, end: Dir::ROOT });
            }
            known.insert(path, open[open.len() - 1]);
        }
        let end = Dir(nodes.len() as u32);
        open.into_iter().for_each(|closed| nodes[closed.0 as usize].end = end);
        let of = sources.iter().map(|(id, _)| path(id).map_or(Dir::ROOT, |path| known[path])).collect();
        Self { sources, of, nodes, outside }
    }

    /// The files.
    pub fn sources(&self) -> &'s Sources {
        self.sources
    }

    /// Where a file stands.
    pub fn at(&self, id: SourceId) -> Dir {
        self.of[id.0 as usize]
    }

    fn node(&self, dir: Dir) -> &Node<'s> {
        &self.nodes[dir.0 as usize]
    }

    /// The first directory after those below one.
    pub fn end(&self, dir: Dir) -> Dir {
        self.node(dir).end
    }

    /// Whether a directory is another one or above it.
    pub fn holds(&self, above: Dir, below: Dir) -> bool {
        above <= below && below < self.end(above)
    }

    /// Whether it is reached from where display paths start by going up alone.
    pub fn is_outside(&self, dir: Dir) -> bool {
        self.outside.contains(&dir)
    }

    /// The directories that are reached by going up alone; there are as many as the longest such path has parts.
    pub fn outside(&self) -> &[Dir] {
        &self.outside
    }

    /// A directory and those above it, innermost first.
    pub fn upwards(&self, dir: Dir) -> impl Iterator<Item = Dir> + '_ {
        std::iter::successors(Some(dir), |dir| (*dir != Dir::ROOT).then(|| self.node(*dir).parent))
    }

    /// The innermost directory above two.
    pub fn shared(&self, one: Dir, other: Dir) -> Dir {
        self.upwards(one).find(|dir| self.holds(*dir, other)).unwrap_or(Dir::ROOT)
    }

    /// The directory in `above` that leads to `below`.
    pub fn branch(&self, above: Dir, below: Dir) -> Dir {
        self.upwards(below).find(|dir| self.node(*dir).parent == above).unwrap_or(below)
    }

    /// Whether the path of a directory ends with these names.
    pub fn ends_with(&self, dir: Dir, names: &[&str]) -> bool {
        let mut up = self.upwards(dir).filter(|dir| *dir != Dir::ROOT);
        names.iter().rev().all(|name| up.next().is_some_and(|dir| self.node(dir).name == *name))
    }

    /// The last name of a path.
    pub fn name(&self, dir: Dir) -> Option<&'s str> {
        (dir != Dir::ROOT).then(|| self.node(dir).name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn directories_know_what_is_above_and_below_them() {
        let paths = ["a/b/x", "a/x", "a-b/x", "../c/x", "../x", "x", "a/b/c/d/x", "/r/x"];
        let sources = Sources::new(paths.iter().map(|path| Source::new(*path, "")).collect());
        let directories = Directories::of(&sources);
        let [ab, a, dashed, uc, up, root, abcd, slash] =
            [0, 1, 2, 3, 4, 5, 6, 7].map(|id| directories.at(SourceId(id)));
        assert_eq!(root, Dir::ROOT);
        assert!(directories.holds(a, abcd) && directories.holds(ab, abcd) && directories.holds(root, slash));
        assert!(!directories.holds(a, dashed) && !directories.holds(ab, a) && !directories.holds(up, a));
        assert_eq!(directories.shared(abcd, a), a);
        assert_eq!(directories.shared(uc, a), root);
        assert_eq!(directories.branch(a, abcd), ab);
        assert!(directories.is_outside(up) && directories.is_outside(root) && !directories.is_outside(uc));
        assert!(directories.ends_with(abcd, &["c", "d"]) && !directories.ends_with(a, &["x", "a"]));
        assert_eq!([abcd, slash, root].map(|dir| directories.name(dir)), [Some("d"), Some("r"), None]);
    }
}
