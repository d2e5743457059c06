// Numbers and times as people read them. Unknown is a dash, never a zero.

const grouped = new Intl.NumberFormat("en-US");

export const DASH = "—";

export function count(n) {
  return n === null || n === undefined ? DASH : grouped.format(n);
}

export function short(n) {
  if (n === null || n === undefined) return DASH;
  if (n < 10_000) return count(n);
  return n < 1_000_000 ? `${trimmed(n / 1000)}k` : `${trimmed(n / 1_000_000)}M`;
}

function trimmed(x) {
  return x.toFixed(x < 100 ? 1 : 0).replace(/\.0$/, "");
}

/** Milliseconds: `812 ms`, `3.9 s`, `2:07`, `1:02:07`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return DASH;
  if (ms < 1) return ms === 0 ? "0 ms" : "< 1 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const two = (n) => String(n).padStart(2, "0");
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest.replace(/^0/, "") : `${Math.floor(seconds / 3600)}:${rest}`;
}

export function usd(amount) {
  if (amount === null || amount === undefined) return DASH;
  if (amount === 0) return "$0";
  if (amount < 0.00005) return "< $0.0001";
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

export function bytes(n) {
  if (n === null || n === undefined) return DASH;
  if (n < 1000) return `${n} B`;
  return n < 1_000_000 ? `${trimmed(n / 1000)} KB` : `${trimmed(n / 1_000_000)} MB`;
}

/** Nanoseconds as a decimal text: too many digits for a number. */
export function date(nanoseconds) {
  return new Date(Number(BigInt(nanoseconds) / 1_000_000n));
}

export function clock(nanoseconds) {
  return date(nanoseconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export function when(nanoseconds) {
  const then = date(nanoseconds);
  const today = then.toDateString() === new Date().toDateString();
  return today ? clock(nanoseconds) : then.toLocaleString([], { dateStyle: "short", timeStyle: "short", hour12: false });
}

/** Milliseconds between two times in nanoseconds. */
export function between(from, to) {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

/** A count of tokens with the sign of where it comes from. */
export function tokens(n, source) {
  if (n === null || n === undefined) return DASH;
  return source === "estimated" ? `≈ ${count(n)}` : count(n);
}

export function signed(n, source) {
  if (n === null || n === undefined) return DASH;
  const text = n < 0 ? `−${count(-n)}` : `+${count(n)}`;
  return source === "estimated" ? `≈ ${text}` : text;
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}
