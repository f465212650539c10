//! Floats as Python spells them.

use super::Sink;

/// Write the float whose JSON text is given. Texts beyond the range of a double were refused by the reader.
pub(super) fn write(number: &str, out: &mut impl Sink) {
    let value: f64 = number.parse().unwrap_or_default();
    let mut buffer = ryu::Buffer::new();
    let shortest = buffer.format(value);
    let (negative, shortest) = match shortest.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, shortest),
    };
    if negative {
        out.push("-");
    }

    // ryu has its own rule where to put the point. Take its digits as 0.ddd × 10^point.
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = String::with_capacity(24);
    digits.push_str(whole);
    digits.push_str(fraction);
    let point = whole.len().cast_signed() + exponent.parse::<isize>().unwrap_or_default();
    let significant = digits.trim_start_matches('0');
    let point = point - (digits.len() - significant.len()).cast_signed();
    let significant = significant.trim_end_matches('0');
    if significant.is_empty() {
        out.push("0.0");
    } else {
        place(significant, point, out);
    }
}

/// Write 0.`digits` × 10^`point`.
fn place(digits: &str, point: isize, out: &mut impl Sink) {
    let count = digits.len().cast_signed();
    match point {
        -3..=0 => {
            out.push("0.");
            zeros(point.unsigned_abs(), out);
            out.push(digits);
        }
        1..=16 if point >= count => {
            out.push(digits);
            zeros((point - count).unsigned_abs(), out);
            out.push(".0");
        }
        1..=16 => {
            let (whole, fraction) = digits.split_at_checked(point.unsigned_abs()).unwrap_or((digits, "0"));
            out.push(whole);
            out.push(".");
            out.push(fraction);
        }
        _ => {
            let (first, fraction) = digits.split_at_checked(1).unwrap_or((digits, ""));
            out.push(first);
            if !fraction.is_empty() {
                out.push(".");
                out.push(fraction);
            }
            let exponent = point - 1;
            let sign = if exponent < 0 { '-' } else { '+' };
            out.push(&format!("e{sign}{:02}", exponent.unsigned_abs()));
        }
    }
}

fn zeros(count: usize, out: &mut impl Sink) {
    for _ in 0..count {
        out.push("0");
    }
}
