//! A model as lines and blocks of lines: what the generator makes and the
//! shrinker takes apart.

#[derive(Debug, Clone)]
pub enum Item {
    Line(String),
    Block { open: String, body: Vec<Item>, close: String },
}

impl Item {
    pub fn block(open: &str, body: Vec<Item>, close: &str) -> Item {
        Item::Block { open: open.into(), body, close: close.into() }
    }
}

pub fn text(items: &[Item]) -> String {
    let mut out = String::new();
    write(items, 0, &mut out);
    out
}

fn write(items: &[Item], depth: usize, out: &mut String) {
    let line = |text: &str, out: &mut String| {
        if !text.is_empty() {
            out.push_str(&"  ".repeat(depth));
            out.push_str(text);
            out.push('\n');
        }
    };
    for item in items {
        match item {
            Item::Line(text) => line(text, out),
            Item::Block { open, body, close } => {
                line(open, out);
                write(body, depth + 1, out);
                line(close, out);
            }
        }
    }
}

/// Items of all depths.
pub fn count(items: &[Item]) -> usize {
    items
        .iter()
        .map(|item| match item {
            Item::Line(_) => 1,
            Item::Block { body, .. } => 1 + count(body),
        })
        .sum()
}

/// The items without the `at`-th one (counted through all depths); with
/// `keep_body`, what is inside it takes its place.
pub fn without(items: &[Item], at: usize, keep_body: bool) -> Vec<Item> {
    let mut left = at;
    remove(items, &mut left, keep_body)
}

fn remove(items: &[Item], left: &mut usize, keep_body: bool) -> Vec<Item> {
    let mut out = Vec::new();
    for item in items {
        let is_target = *left == 0;
        *left = left.wrapping_sub(1);
        match item {
            Item::Line(_) if is_target => {}
            Item::Line(_) => out.push(item.clone()),
            Item::Block { body, .. } if is_target => {
                if keep_body {
                    out.extend(body.iter().cloned());
                }
            }
            Item::Block { open, body, close } => {
                let body = remove(body, left, keep_body);
                out.push(Item::Block { open: open.clone(), body, close: close.clone() });
            }
        }
    }
    out
}
