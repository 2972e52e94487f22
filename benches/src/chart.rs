//! The chart: nanoseconds per request, one panel a table.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::circumstances::Circumstances;
use crate::measures::Measures;

const WIDTH: u32 = 860;
const BAR: u32 = 24;
/// Between two panels, with the title of the second.
const TITLE: u32 = 44;
const LEFT: i32 = 250;
const RIGHT: i32 = 100;

/// Stand-ins, which the style sheet below replaces: a light page and a dark one.
const OWN: RGBColor = RGBColor(1, 1, 1);
const PEER: RGBColor = RGBColor(2, 2, 2);
const TEXT: RGBColor = RGBColor(3, 3, 3);
const FAINT: RGBColor = RGBColor(4, 4, 4);

const STYLE: &str = r#"<style>
.page { fill: #ffffff } .own { fill: #d1590b } .peer { fill: #9aa7b4 } .text { fill: #1f2328 } .faint { fill: #59636e }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .own { fill: #f0883e } .peer { fill: #4d5b69 } .text { fill: #e6edf3 } .faint { fill: #9198a1 }
}
</style>
<rect class="page" width="100%" height="100%" rx="8"/>
"#;

/// Whom the chart shows, and under which name.
const SHOWN: [(&str, &str, Group); 15] = [
    ("floor", "the floor: bytes and a hash, no answer", Group::Router),
    ("orbgate-set", "orbgate: whole decision, scopes interned", Group::Own),
    ("orbgate-text", "orbgate: whole decision, scopes as text", Group::Own),
    ("by-hand", "matchit and a split of the scopes, by hand", Group::Router),
    ("wayfind", "wayfind: routing only", Group::Router),
    ("matchit", "matchit: routing only", Group::Router),
    ("path-tree", "path-tree: routing only", Group::Router),
    ("actix-router", "actix-router: routing only", Group::Slow),
    ("regorus-routed", "regorus: route given", Group::Slow),
    ("regorus-matchit", "regorus: route by matchit", Group::Slow),
    ("regorus-paths", "regorus: finds the route", Group::Slow),
    ("cedar-sliced", "Cedar: route and policy given", Group::Slow),
    ("cedar-routed", "Cedar: route given", Group::Slow),
    ("casbin-routed", "casbin: route given", Group::Slow),
    ("casbin-paths", "casbin: finds the route", Group::Slow),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Own,
    Router,
    /// The axis does not wait for these: they run off it, and say how far.
    Slow,
}

struct Panel {
    title: String,
    /// Label, nanoseconds, and what it is.
    bars: Vec<(&'static str, f64, Group)>,
}

impl Panel {
    fn new(measures: &Measures, table: &str) -> Option<Self> {
        let rows: Vec<_> = measures.rows.iter().filter(|row| row.table == table && row.stream == "hits").collect();
        let bars = SHOWN.iter().filter_map(|(name, label, group)| {
            let own = rows.iter().filter(|row| row.contestant.starts_with(name));
            // The faster way of setting it up.
            let best = own.map(|row| row.median).min_by(f64::total_cmp)?;
            Some((*label, best, *group))
        });
        let bars: Vec<_> = bars.collect();
        let routes = measures.tables.iter().find(|(name, _)| name == table)?.1[0];
        let name = if table == "external" { "the specification's table" } else { "GitHub's public API" };
        let title = format!("{name}, {} routes: ns per request", thousands(routes as f64));
        (!bars.is_empty()).then_some(Self { title, bars })
    }

    fn height(&self) -> u32 {
        TITLE + BAR * u32::try_from(self.bars.len()).expect("a few bars")
    }

    /// Where the axis ends.
    fn end(&self) -> f64 {
        let fast = self.bars.iter().filter(|(_, _, group)| *group != Group::Slow);
        fast.map(|(_, nanoseconds, _)| *nanoseconds).fold(1.0, f64::max) * 1.25
    }
}

/// The chart as SVG, for light pages and dark ones.
pub fn svg(here: &Circumstances, measures: &Measures) -> String {
    let panels: Vec<_> = ["external", "github"].iter().filter_map(|table| Panel::new(measures, table)).collect();
    let height = panels.iter().map(Panel::height).sum::<u32>() + 48;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let mut top = 8;
        for panel in &panels {
            draw(&area, panel, top);
            top += i32::try_from(panel.height()).expect("a small picture");
        }
        let note = format!("median round on {}, {}; one thread; pointed bars run off the scale", here.cpu, here.date);
        text(&area, &note, (LEFT, top + 18), 13, FAINT, HPos::Left);
        area.present().expect("a string takes everything");
    }
    styled(&svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(area: &Area<'_>, panel: &Panel, top: i32) {
    text(area, &panel.title, (LEFT, top + 24), 16, TEXT, HPos::Left);
    let end = panel.end();
    let width = f64::from(WIDTH) - f64::from(LEFT + RIGHT);
    let mut y = top + i32::try_from(TITLE).expect("small");
    let bar = i32::try_from(BAR).expect("small");
    for (label, nanoseconds, group) in &panel.bars {
        let over = *nanoseconds > end;
        let length = (nanoseconds / end).min(1.0) * width;
        let right = LEFT + length as i32;
        let colour = if *group == Group::Own { OWN } else { PEER };
        let middle = y + bar / 2 - 1;
        area.draw(&Rectangle::new([(LEFT, y), (right, y + bar - 5)], colour.filled())).expect("drawn");
        if over {
            // A bar that runs off the axis ends in a point.
            let tip = vec![(right, y), (right + 9, y + (bar - 5) / 2), (right, y + bar - 5)];
            area.draw(&Polygon::new(tip, colour.filled())).expect("drawn");
        }
        text(area, label, (LEFT - 8, middle), 13, TEXT, HPos::Right);
        let value = match *nanoseconds < 1_000.0 {
            true => format!("{nanoseconds:.1}"),
            false => thousands(*nanoseconds),
        };
        text(area, &value, (right + if over { 15 } else { 6 }, middle), 13, TEXT, HPos::Left);
        y += bar;
    }
}

fn text(area: &Area<'_>, words: &str, at: (i32, i32), size: u32, colour: RGBColor, side: HPos) {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(words.to_owned(), at, style)).expect("drawn");
}

/// `12345.6` as `12,346`.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Replaces the stand-in colours by classes, which follow the reader's preference for light or dark.
fn styled(svg: &str) -> String {
    let mut svg = svg.to_owned();
    for (number, class) in [(1, "own"), (2, "peer"), (3, "text"), (4, "faint")] {
        let colour = format!("#{number:02}{number:02}{number:02}");
        svg = svg.replace(&format!("fill=\"{colour}\""), &format!("class=\"{class}\""));
    }
    let svg = svg.replace("font-family=\"sans-serif\"", "font-family=\"system-ui, sans-serif\"");
    let body = svg.find("<svg").and_then(|start| svg[start..].find('>').map(|end| start + end + 1));
    let (head, body) = svg.split_at(body.expect("an svg element"));
    format!("{head}\n{STYLE}{body}")
}
