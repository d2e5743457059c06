// Icons as paths, 16 × 16; each stands beside a word and is hidden from screen readers.

import { svg } from "./dom.js";

const PATHS = {
  check: "M3 8.5l3.2 3.2L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  scissors: "M5.2 5.4L13 12M5.2 10.6L13 4M5.5 4a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0zM5.5 12a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0z",
  stop: "M13.5 8a5.5 5.5 0 1 1-11 0a5.5 5.5 0 0 1 11 0zM4.2 4.2l7.6 7.6",
  leave: "M2.5 8h8M7.5 5l3 3l-3 3M13.5 3v10",
  question: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10M8 12.9v.1",
  layers: "M8 2.5L14 6L8 9.5L2 6zM2.5 9.5L8 12.8l5.5-3.3",
  running: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5v3.2l2 1.6",
  waiting: "M13.5 8a5.5 5.5 0 1 1-11 0a5.5 5.5 0 0 1 11 0zM8 5v3.2l2 1.6",
  up: "M8 13.5V3M3.8 7L8 2.8L12.2 7",
  down: "M8 2.5V13M3.8 9L8 13.2L12.2 9",
  gear: "M9.8 2.6a3.6 3.6 0 0 0-4.2 4.7L2.4 10.5v3.1h3.1l3.2-3.2a3.6 3.6 0 0 0 4.7-4.2L11 8.6L8.6 7.4L7.4 5z",
  flag: "M4 14V2.5M4 3h8l-1.8 2.7L12 8.5H4",
  copy: "M5.5 5.5h7.8v7.8H5.5zM10.5 5.2V2.7H2.7v7.8h2.5",
  save: "M8 2.5v8M4.7 7.3L8 10.6l3.3-3.3M2.7 13.3h10.6",
  open: "M8 11V3M4.7 6.2L8 2.9l3.3 3.3M2.7 13.3h10.6",
  link: "M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.3-2.3A2.6 2.6 0 0 0 9 3.3L7.9 4.4M9.3 6.7a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l1.1-1.1",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  play: "M4.5 3v10l8.5-5z",
  list: "M2.5 4h11M2.5 8h11M2.5 12h11",
  pin: "M6 2.5h4l-.5 4l2.2 2.3H4.3L6.5 6.5zM8 8.8v4.7",
  prev: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5L10.5 8L6 12.5",
  keys: "M1.8 4.2h12.4v7.6H1.8zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.5h6",
};

export function icon(name, extra = "") {
  const path = svg("path", { d: PATHS[name] || PATHS.question });
  return svg("svg", { class: `icon ${extra}`.trim(), viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" }, path);
}
