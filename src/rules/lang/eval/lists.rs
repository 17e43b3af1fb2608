//! Macros over lists: which elements are gone through, and what comes of them.

use super::lookup::{self, Index, Key};
use super::{Eval, REMEMBERED, Truth, too_much, truth};
use crate::facts::value::{Data, Value};
use crate::rules::lang::check::{Macro, Turns, Typed, common_sieve, sieve};
use crate::rules::lang::values::elements;
use std::rc::Rc;

impl<'a> Eval<'a> {
    /// What a macro makes of a list.
    pub(super) fn over(&mut self, kind: Macro, list: &'a Typed, body: &'a Typed, turns: Turns) -> Value<'a> {
        let whole = self.value(list);
        let all = elements(&whole);
        let same_for_all =
            matches!(kind, Macro::Exists | Macro::Filter | Macro::First) && !list.asks && list.loops == 0;
        let fewer = if same_for_all && all.len() >= lookup::WORTH {
            let sifted = self.sifted_for_all(&all, body, turns);
            let rest = sifted.as_ref().unwrap_or(&all);
            let found = if rest.len() >= lookup::WORTH { self.looked_up(rest, body, turns) } else { None };
            found.or(sifted)
        } else {
            None
        };
        let items = match (fewer, turns.sieve) {
            (Some(items), _) => items,
            (None, Some(kept)) => self.sifted(&all, body, turns, kept),
            (None, None) => all,
        };
        self.turns(kind, (whole, items), turns.slot, body)
    }

    /// Those elements of a list for which a condition may hold, where that can be looked up.
    fn looked_up(&mut self, items: &[Value<'a>], condition: &'a Typed, turns: Turns) -> Option<Rc<[Value<'a>]>> {
        let mut best: Option<Vec<u32>> = None;
        for key in lookup::keys(condition, turns.own) {
            let wanted = self.apart(|eval| eval.value(key.wanted)).0;
            let Some(wanted) = key.wanted(wanted) else { continue };
            let found = self.index(&key, items, turns.slot).find(&wanted);
            if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        best.map(|found| found.into_iter().map(|position| items[position as usize].clone()).collect())
    }

    /// The elements of a list by what is compared of them.
    fn index(&mut self, key: &Key<'a>, items: &[Value<'a>], slot: usize) -> Rc<Index> {
        let address = std::ptr::from_ref(key.of_element) as usize;
        let common = self.around.common;
        if let Some(index) = common.indexes.borrow().get(&address) {
            return Rc::clone(index);
        }
        let mut index = Index::default();
        self.for_all(|eval| {
            for (position, item) in (0..).zip(items) {
                eval.slots[slot] = Some(item.clone());
                let mut compared = Vec::new();
                let known = eval.compared(&key.within, key.of_element, &mut compared);
                index.put(key, position, known.then_some(compared));
                eval.trail.clear();
            }
            Value::of(Data::Null)
        });
        let index = Rc::new(index);
        common.indexes.borrow_mut().insert(address, Rc::clone(&index));
        index
    }

    /// What is compared of the element at hand; whether all of it is known.
    fn compared(&mut self, within: &[(&'a Typed, usize)], of: &'a Typed, out: &mut Vec<Value<'a>>) -> bool {
        let Some(((list, slot), within)) = within.split_first() else {
            out.push(self.value(of));
            return true;
        };
        let list = self.value(list);
        !matches!(list.data, Data::Unknown(_))
            && elements(&list).iter().all(|item| {
                self.slots[*slot] = Some(item.clone());
                self.compared(within, of, out)
            })
    }

    /// Those of some elements that the first part of a condition does not rule out, in every turn of the loops around.
    fn sifted(
        &mut self,
        items: &Rc<[Value<'a>]>,
        condition: &'a Typed,
        Turns { slot, own, .. }: Turns,
        place: usize,
    ) -> Rc<[Value<'a>]> {
        if let Some((Value { data: Data::List(kept), .. }, _)) = self.kept.get(place).and_then(Option::as_ref) {
            return Rc::clone(kept);
        }
        let Some(first) = sieve(condition, own) else { return Rc::clone(items) };
        let (kept, _) = self.apart(|eval| eval.let_through(items, slot, first));
        self.keep(place, (kept.clone(), Rc::default()));
        elements(&kept)
    }

    /// Those that the first part of a condition does not rule out, for everything that is asked about there.
    fn sifted_for_all(
        &mut self,
        items: &[Value<'a>],
        condition: &'a Typed,
        Turns { slot, own, .. }: Turns,
    ) -> Option<Rc<[Value<'a>]>> {
        let first = common_sieve(condition, own)?;
        let address = std::ptr::from_ref(first) as usize;
        let common = self.around.common;
        if let Some((kept, _)) = common.known.borrow().get(&address) {
            return Some(elements(kept));
        }
        let (kept, _) = self.for_all(|eval| eval.let_through(items, slot, first));
        common.known.borrow_mut().insert(address, (kept.clone(), Rc::default()));
        Some(elements(&kept))
    }

    /// The elements that a condition does not rule out.
    fn let_through(&mut self, items: &[Value<'a>], slot: usize, condition: &'a Typed) -> Value<'a> {
        let mut kept = Vec::new();
        for item in items {
            self.slots[slot] = Some(item.clone());
            if truth(self.value(condition)) != Truth::False {
                kept.push(item.clone());
            }
            self.trail.clear();
        }
        Value::of(Data::List(kept.into()))
    }

    fn turns(
        &mut self,
        kind: Macro,
        (list, items): (Value<'a>, Rc<[Value<'a>]>),
        slot: usize,
        body: &'a Typed,
    ) -> Value<'a> {
        if let Data::Unknown(_) = list.data {
            return if kind == Macro::First { list.perhaps() } else { list };
        }
        let start = self.trail.len();
        let mut unknown = None;
        let mut out = Vec::new();
        let mut hits = 0;
        for item in items.iter() {
            let before = self.trail.len();
            self.slots[slot] = Some(item.clone());
            let value = self.value(body);
            // What is left of the elements is not told in part.
            if self.around.share.spent().is_some() {
                return too_much();
            }
            if kind == Macro::Map {
                self.forget(before);
                out.push(value);
                continue;
            }
            match (kind, truth(value)) {
                (Macro::Exists, Truth::True) => {
                    self.trail.drain(start..before);
                    return Value::of(Data::Bool(true));
                }
                (Macro::All, Truth::False) => {
                    self.trail.drain(start..before);
                    return Value::of(Data::Bool(false));
                }
                (Macro::Filter, Truth::True) => {
                    self.forget(before);
                    out.push(item.clone());
                }
                (Macro::First, Truth::True) => {
                    self.forget(before);
                    return Value { span: item.span.or(list.span), ..item.clone() };
                }
                (Macro::ExistsOne, Truth::True) => hits += 1,
                (_, Truth::Unknown(value)) => unknown = unknown.or(Some(value)),
                (Macro::Filter | Macro::First | Macro::Exists, _) => self.trail.truncate(before),
                _ => {}
            }
        }
        self.forget((start + REMEMBERED).min(self.trail.len()));
        match (kind, unknown) {
            (Macro::Map, _) => Value { data: Data::List(out.into()), span: list.span },
            // What is not known to be in is left out: a filter never invents an element.
            (Macro::Filter, _) => Value { data: Data::List(out.into()), span: list.span },
            (Macro::First, _) => Value { data: Data::Null, span: list.span },
            (_, Some(unknown)) => unknown,
            (Macro::ExistsOne, None) => Value::of(Data::Bool(hits == 1)),
            (Macro::Exists, None) => Value::of(Data::Bool(false)),
            (Macro::All, None) => Value::of(Data::Bool(true)),
        }
    }
}
