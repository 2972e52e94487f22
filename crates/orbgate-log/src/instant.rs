//! Reads the times of logs as instants, to find the latest.

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Microseconds since 1970 of a time as logs write it: ISO 8601, or `20/Nov/2026:13:05:00 +0000`, both perhaps with fractions
/// of a second. Without a zone, it is UTC. `None` if it has another form.
///
/// ```
/// use orbgate_log::instant;
/// assert_eq!(instant(b"02/Nov/2026:01:30:00 +0100"), instant(b"2026-11-02T00:30:00Z"));
/// assert!(instant(b"2026-11-02 00:30:00.5") > instant(b"2026-11-02T00:30:00Z"));
/// assert_eq!(instant(b"yesterday"), None);
/// ```
#[must_use]
pub fn instant(time: &[u8]) -> Option<i64> {
    let (days, rest) = date(time)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = rest else {
        return None;
    };
    // A leap second is written as the 60th.
    let [hour, minute, second] =
        [([*h1, *h2], 23), ([*m1, *m2], 59), ([*s1, *s2], 60)].map(|(two, most)| number(&two, most));
    let (micros, zone) = fraction(rest)?;
    let minutes = sum(sum(days, 24, hour?), 60, minute?);
    let seconds = sum(minutes.saturating_sub(offset(zone)?), 60, second?);
    Some(sum(seconds, 1_000_000, micros))
}

/// `units * each + more`: at most four digits of a year, so nothing overflows.
const fn sum(units: i64, each: i64, more: i64) -> i64 {
    units.saturating_mul(each).saturating_add(more)
}

/// The days since 1970, and the time after the date.
fn date(time: &[u8]) -> Option<(i64, &[u8])> {
    let (year, month, day, rest) = match time {
        [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ', rest @ ..] => {
            ([*y1, *y2, *y3, *y4], number(&[*m1, *m2], 12)?, [*d1, *d2], rest)
        }
        [d1, d2, b'/', a, b, c, b'/', y1, y2, y3, y4, b':', rest @ ..] => {
            let month = MONTHS.iter().zip(1..).find(|(month, _)| ***month == [*a, *b, *c])?.1;
            ([*y1, *y2, *y3, *y4], month, [*d1, *d2], rest)
        }
        _ => return None,
    };
    let (year, day) = (number(&year, 9999)?, number(&day, 31)?);
    (month >= 1 && day >= 1).then(|| (days(year, month, day), rest))
}

/// The days since 1970 of a date in the Gregorian calendar. Years begin in March here, so that a leap day is their last.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let month = month.saturating_add(9) % 12;
    let before = sum(month, 153, 2) / 5; // 31, 30, 31, 30, 31 days, from March on
    let leap = (year / 4).saturating_sub(year / 100).saturating_add(year / 400);
    sum(year, 365, leap).saturating_add(before).saturating_add(day).saturating_sub(719_469)
}

/// The microseconds of a fraction, and the zone after it.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(fraction) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) else {
        return Some((0, rest));
    };
    let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, zone) = fraction.split_at_checked(length).filter(|(digits, _)| !digits.is_empty())?;
    let mut six = [b'0'; 6];
    for (to, digit) in six.iter_mut().zip(digits) {
        *to = *digit;
    }
    Some((number(&six, 999_999)?, zone))
}

/// The minutes that a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match zone.strip_prefix(b" ").unwrap_or(zone) {
        b"" | b"Z" | b"z" => return Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            (sign, [*h1, *h2], [*m1, *m2])
        }
        [sign @ (b'+' | b'-'), h1, h2] => (sign, [*h1, *h2], [b'0', b'0']),
        _ => return None,
    };
    let minutes = sum(number(&hours, 23)?, 60, number(&minutes, 59)?);
    Some(if *sign == b'-' { minutes.saturating_neg() } else { minutes })
}

fn number(digits: &[u8], most: i64) -> Option<i64> {
    let text = str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok().filter(|number| *number <= most)
}

#[cfg(test)]
mod tests {
    use super::{days, instant};

    #[test]
    fn times_are_counted_from_1970() {
        for (time, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("01/Jan/1970:00:00:00 +0000", 0),
            ("1969-12-31 23:59:59", -1),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2024-02-29T23:59:60Z", 1_709_251_200),
            ("20/Nov/2026:13:05:00 +0100", 1_795_176_300),
            ("2026-11-20T13:05:00-05:30", 1_795_199_700),
            ("2026-11-20t13:05:00+01", 1_795_176_300),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(instant(time.as_bytes()), Some(seconds * 1_000_000), "{time}");
        }
        assert_eq!(instant(b"1970-01-01T00:00:00.000001Z"), Some(1));
        assert_eq!(instant(b"1970-01-01T00:00:00,5"), Some(500_000));
        assert_eq!(instant(b"01/Nov/2026:01:30:00.655"), Some(1_793_496_600_655_000));
        // Every date is the day after the one before.
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut count = days(1968, 1, 1);
        for year in 1968..2105 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length + i64::from(month == 2 && is_leap) {
                    assert_eq!(days(year, month, day), count, "{year}-{month}-{day}");
                    count += 1;
                }
            }
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        for time in [
            "",
            "-",
            "yesterday",
            "2026-11-20",
            "2026-11-20T13:05",
            "2026-13-20T13:05:00Z",
            "2026-00-20T13:05:00Z",
            "2026-11-20T24:05:00Z",
            "2026-11-20T13:05:00.Z",
            "2026-11-20T13:05:00 Europe/Berlin",
            "20/nov/2026:13:05:00 +0000",
            "20/Nov/2026:13:05:00 +01000",
            "1795179900",
            "+026-11-20T13:05:00Z",
            "2026-11-20T13:05:+1Z",
        ] {
            assert_eq!(instant(time.as_bytes()), None, "{time}");
        }
    }
}
