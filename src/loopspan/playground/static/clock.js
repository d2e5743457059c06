// A clock that runs while something is waited for. It is in no live region.

import { duration, date } from "./format.js";

export class RunClock extends HTMLElement {
  connectedCallback() {
    // The server's clock may differ from this one's: what is in the future has just begun.
    this.from = Math.min(date(this.getAttribute("since")).getTime(), Date.now());
    this.tick();
    this.timer = setInterval(() => this.tick(), 200);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  tick() {
    this.textContent = duration(Date.now() - this.from);
  }
}
