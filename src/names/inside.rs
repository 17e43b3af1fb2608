//! Names of parts of one object. Knows the table of them.

use super::walk::{names, views};
use super::{Broken, list, meant, stands_for_another};
use crate::budget::{STEP, Share, Spent};
use crate::catalog::{self, InnerName, inner_names};
use crate::facts::{BreachClass, Pod};
use crate::known::Fact;
use crate::parse::{Missing, View};
use std::collections::BTreeMap;

/// The group and the kind of an object.
type Kind<'k> = (&'k str, &'k str);

/// What names in an object lead to no part of it.
pub fn of_object(object: View<'_>, of: Kind<'_>, share: &Share) -> Result<Vec<Broken>, Spent> {
    let mut out = Vec::new();
    inner_names(of.0, of.1).iter().try_for_each(|row| ask(row, (object, object, of), share, &mut out)).map(|()| out)
}

/// What names in a pod lead to no part of it; `object` is what the pod stands in, of a kind.
pub fn of_pod(pod: &Pod, (object, of): (View<'_>, Kind<'_>), share: &Share) -> Result<Vec<Broken>, Spent> {
    let mut out = Vec::new();
    let Some(spec) = whole(pod) else { return Ok(out) };
    inner_names("core", "Pod").iter().try_for_each(|row| ask(row, (spec, object, of), share, &mut out)).map(|()| out)
}

/// The spec of a pod, if it is stated here as a whole: no operator adds to it, and it is no patch of another one.
pub fn whole(pod: &Pod) -> Option<View<'_>> {
    let spec = pod.spec.as_ref()?.view();
    let decided = spec.open().is_none_or(|open| matches!(open.missing, Missing::Only(_)));
    let containers = spec.get("containers");
    // What has words in it stands for an image that something fills in.
    let is_image = |image: View<'_>| image.is_some() && image.traced().is_none_or(|image| !image.text().contains(' '));
    let complete = || containers.items().all(|container| is_image(container.get("image")));
    (decided && containers.node().is_some_and(|node| node.is_seq()) && complete()).then_some(spec)
}

fn ask(
    row: &InnerName,
    (root, object, of): (View<'_>, View<'_>, Kind<'_>),
    share: &Share,
    out: &mut Vec<Broken>,
) -> Result<(), Spent> {
    for at in views(root, row.at, share)?.all {
        if !row.unless.is_empty() && row.unless.split(' ').any(|path| at.path(path).is_some()) {
            continue;
        }
        let mut asked = names(at, row.from, share)?.all;
        // A number is a port, and a path is no name.
        asked.retain(|(name, _)| name.parse::<u32>().is_err() && !name.contains('/') && !stands_for_another(name));
        if asked.is_empty() {
            continue;
        }
        let mut declared = BTreeMap::new();
        let mut open = false;
        for path in row.to.split(' ') {
            let found = match path.strip_prefix('^') {
                Some(path) => names(object, path, share)?,
                None => names(at, path, share)?,
            };
            open |= found.open;
            declared.extend(found.all);
        }
        if open {
            continue;
        }
        for (name, place) in asked {
            share.work(STEP)?;
            let made = || catalog::creators(row.what).any(|by| by.by.rsplit_once('/') == Some(of) && by.name == name);
            if declared.contains_key(&name) || made() {
                continue;
            }
            let meant = meant(&name, &declared);
            let shown = meant.as_ref().and_then(|meant| declared.get(meant)).or(declared.values().next());
            let instead = shown.map(|place| (format!("there is {}", list(&declared)), *place));
            let says = format!("there is no {} {name} here: {}", row.what, row.fails);
            let class = Fact::watched(|| {
                row.used();
                Fact::value(BreachClass::NameNotFound, place)
            });
            out.push(Broken { class, says, meant, instead });
        }
    }
    Ok(())
}
