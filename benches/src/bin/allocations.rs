//! Counts allocations per request. A program of its own: counting would cost the peers time.

use orbgate_bench::{peers, stream, table::Table};

/// Enough to see one allocation, and few enough for the slow.
const REQUESTS: usize = 1_024;

fn main() {
    for name in ["external", "github"] {
        let table: &'static Table = Box::leak(Box::new(Table::named(name)));
        let mut contestants = peers::all(table, &|_| true);
        for plan in stream::plans(name) {
            let stream = stream::stream(table, plan, REQUESTS);
            for contestant in &mut contestants {
                contestant.prepare(&stream);
                // The first time may fill caches.
                std::hint::black_box(contestant.pass(&stream.asks[..16]));
                let slow = contestant.name().starts_with("casbin");
                let asks = &stream.asks[..if slow { 16 } else { REQUESTS }];
                let counted = allocation_counter::measure(|| {
                    std::hint::black_box(contestant.pass(asks));
                });
                let each = counted.count_total as f64 / asks.len() as f64;
                println!("{name}\t{}\t{}\t{each:.3}", plan.name, contestant.name());
            }
        }
    }
}
