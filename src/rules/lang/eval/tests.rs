use super::*;
use crate::facts::value::{Reflect, Type};
use crate::facts::{Facts, Image};
use crate::known::Fact;
use crate::parse::expression as ast;
use crate::rules::functions::Surroundings;
use crate::rules::lang::check::Scope;

const VARIABLES: [&str; 5] = ["unknown", "absent", "yes", "no", "big"];

fn around<'a>(context: &'a Context<'a>, common: &'a Common<'a>) -> Around<'a> {
    Around { context, share: Rc::new(Share::of(1, 0)), common }
}

fn run(text: &str) -> String {
    let mut scope = Scope::default();
    for name in VARIABLES {
        let slot = scope.declare(name, Type::Dyn);
        // Lists of these are the same for all, and are looked up.
        scope.variables[slot].asks = !["unknown", "absent"].contains(&name);
    }
    let typed = scope.check(&ast::expression(text).expect("syntax"), text);
    assert!(scope.faults.is_empty(), "{:?}", scope.faults);
    let facts = Facts::default();
    let facts_around = Surroundings::alone(&facts);
    let (context, common) = (Context::anywhere(&facts_around), Common::new(Share::of(1, 0)));
    let mut eval = Eval::of(around(&context, &common), &[]);
    eval.begin(&[], &[], scope.variables.len());
    let text = |text: &'static str| Value::of(Data::Str(Cow::Borrowed(text)));
    eval.set(0, Value::unknown(Why::Template, None));
    eval.set(1, Value::of(Data::Null));
    eval.set(2, text("true"));
    eval.set(3, text("False"));
    eval.set(4, text("inf"));
    let (value, _) = eval.run(&typed);
    if let Data::Unknown(_) = value.data { "unknown".to_owned() } else { value.to_string() }
}

#[test]
fn unknown_only_where_nothing_decides() {
    for (text, answer) in [
        ("unknown && false", "false"),
        ("false && unknown", "false"),
        ("true && unknown", "unknown"),
        ("unknown || true", "true"),
        ("false || unknown", "unknown"),
        ("!unknown", "unknown"),
        ("unknown ? 1 : 2", "unknown"),
        ("[1, 2].exists(x, x == 2 || unknown)", "true"),
        ("[1].all(x, unknown)", "unknown"),
        ("[1, 2].filter(x, x == 2 || unknown)", "2"),
        ("[1].filter(x, unknown && false).size()", "0"),
        ("[1, 2, 3].filter(x, x == 2 || unknown).first()", "2"),
        ("[1, 2].filter(x, unknown).first() == null", "true"),
        ("unknown.filter(x, x == 2).first()", "unknown"),
        ("absent.filter(x, x == 2).first() == null", "true"),
        ("default(absent, 1)", "1"),
        ("absent.default(absent, 2)", "2"),
        ("default(absent, absent) == null", "true"),
        ("default(1, unknown)", "1"),
        ("default(absent, unknown, 1)", "unknown"),
        ("default(unknown, 1)", "unknown"),
        ("known(unknown) == null", "true"),
        ("default(known(unknown), known(1))", "1"),
    ] {
        assert_eq!(run(text), answer, "{text}");
    }
}

#[test]
fn what_is_looked_up_is_what_asking_every_element_finds() {
    let few = "['a', 'b'], ['a'], [], [absent], [unknown, 'b'], [8], unknown, absent, ['c']";
    let others = (0..40).map(|n| format!("['n{n}']")).collect::<Vec<_>>().join(", ");
    for (condition, found) in [
        ("x.exists(y, y == 'a')", 2),
        ("x.exists(y, 'b' == y)", 2),
        ("'a' in x", 2),
        ("x[0] in ['a', 'c']", 3),
        ("x[0] in ['a', absent]", 5),
        ("['a', 'c'].exists(y, y == x[0])", 3),
        ("['a', absent].exists(y, x[0] == y)", 5),
        ("x.size() != 1 && x[0] == 'a'", 1),
        ("x.exists(y, y == '8')", 1),
        ("x.exists(y, y == absent)", 1),
        ("x.exists(y, y == unknown)", 0),
        ("unknown && x.exists(y, y == 'a')", 0),
        ("x.exists(y, y == 'c' && x[0] == y)", 1),
        ("x == 'a'", 0),
        ("x[0] == absent", 3),
        ("x[0] == absent && x.size() == 1", 1),
        ("x.size() == 2 && yes", 1),
        ("x.size() == 2 && no", 0),
        ("x.size() == 2 && x[0] == yes", 0),
        ("x.size() != 1 && x.size() == 2 && x[1] != yes", 1),
        ("x[0] == 8 && yes == 'true'", 1),
    ] {
        for (question, all) in [("exists", None), ("filter", Some(found.to_string()))] {
            let size = if all.is_some() { ".size()" } else { "" };
            let asked = |list: String| run(&format!("[{list}].{question}(x, {condition}){size}"));
            let looked_up = asked(format!("{few}, {others}"));
            assert_eq!(looked_up, asked(few.to_owned()), "{question} {condition}");
            assert!(all.is_none_or(|all| all == looked_up), "{condition}: {looked_up}");
        }
    }
}

#[test]
fn the_facts_that_decided_are_remembered() {
    let place = Span::new(crate::source::SourceId(0), 0..1);
    let mut entity = Image::blank(place);
    entity.tag = Fact::value("1.0".to_owned(), place);
    entity.digest = Fact::value("sha256:0".to_owned(), place);
    let decided = |text: &str| -> Vec<String> {
        let mut scope = Scope::default();
        scope.declare("image", Image::ty());
        let typed = scope.check(&ast::expression(text).expect("syntax"), text);
        let facts = Facts::default();
        let facts_around = Surroundings::alone(&facts);
        let (context, common) = (Context::anywhere(&facts_around), Common::new(Share::of(1, 0)));
        let mut eval = Eval::of(around(&context, &common), &[]);
        eval.begin(&[], &[], 1);
        eval.set(0, entity.reflect());
        eval.run(&typed).1.into_iter().map(|used| used.path.into()).collect()
    };
    assert_eq!(decided("image.tag == '1.0' || image.digest == ''"), ["image.tag"]);
    assert_eq!(decided("image.tag == '2' || image.digest != ''"), ["image.digest"]);
    assert_eq!(decided("image.tag == '1.0' && image.digest != ''"), ["image.tag", "image.digest"]);
}

#[test]
fn what_rests_on_something_unread_is_remembered() {
    let place = Span::new(crate::source::SourceId(0), 0..1);
    let mut entity = Image::blank(place);
    entity.tag = Fact::value("1.0".to_owned(), place).resting_on(true);
    entity.digest = Fact::value("sha256:0".to_owned(), place);
    let unread = |text: &str| {
        let mut scope = Scope::default();
        scope.declare("image", Image::ty());
        let typed = scope.check(&ast::expression(text).expect("syntax"), text);
        let facts = Facts::default();
        let facts_around = Surroundings::alone(&facts);
        let (context, common) = (Context::anywhere(&facts_around), Common::new(Share::of(1, 0)));
        let mut eval = Eval::of(around(&context, &common), &[]);
        eval.begin(&[], &[], scope.variables.len());
        eval.set(0, entity.reflect());
        eval.run(&typed).1.iter().any(|used| used.unread)
    };
    assert!(unread("image.tag == '1.0'") && unread("[image].filter(i, i.tag == '1.0').size() == 1"));
    assert!(!unread("image.digest == 'sha256:0'") && !unread("image.digest != '' || image.tag == '1.0'"));
}

#[test]
fn absent_is_null() {
    for (text, answer) in [
        ("absent == null", "true"),
        ("absent == 1", "false"),
        ("absent != 1", "true"),
        ("absent < 1 || absent >= 1", "false"),
        ("!absent", "true"),
        ("absent.field == null", "true"),
        ("1 in absent", "false"),
        ("absent.exists(x, true)", "false"),
    ] {
        assert_eq!(run(text), answer, "{text}");
    }
}

#[test]
fn text_of_raw_documents_is_read_alike_everywhere() {
    for (text, answer) in [
        ("!yes", "false"),
        ("!no", "true"),
        ("yes ? 1 : 2", "1"),
        ("no ? 1 : 2", "2"),
        ("yes && !no", "true"),
        ("big > 1", "false"),
    ] {
        assert_eq!(run(text), answer, "{text}");
    }
}
