// The live stream: one per tab, open while somebody looks, resumed where it stopped.

import { failed, follow, reload } from "./session.js";
import { announce, changes, get, patchStep, putRun, putStep, state } from "./store.js";
import { ending, finish } from "./words.js";

const HIDDEN = 10_000;
const RETRIES = [1000, 2000, 5000, 10_000];

let source = null;
let topics = "runs";
let after = null;
let tries = 0;
let hiding = null;
let retrying = null;
let reloading = null;

export function startStream(position) {
  after = position;
  connect();
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(disconnect, HIDDEN);
    else if (source === null) connect();
  });
}

/** Listen to this run, from where its steps were read on. */
export function listenTo(run) {
  const live = run !== null && run.source.type === "memory" && run.seq;
  topics = live ? `runs,run:${run.run_id}` : "runs";
  if (live) after = run.seq;
  if (source !== null || live) connect();
}

function disconnect() {
  if (source !== null) source.close();
  source = null;
}

function connect() {
  clearTimeout(retrying);
  disconnect();
  const query = new URLSearchParams({ topics });
  if (after !== null) query.set("after", after);
  const mine = new EventSource(`api/stream?${query}`);
  source = mine;
  for (const name of Object.keys(TAKE)) {
    mine.addEventListener(name, (event) => {
      if (source !== mine) return;
      after = event.lastEventId || after;
      TAKE[name](JSON.parse(event.data));
    });
  }
  mine.onopen = () => {
    tries = 0;
    connection("live");
  };
  mine.onerror = () => {
    if (source !== mine) return;
    connection("paused");
    if (mine.readyState === EventSource.CLOSED) retry();
  };
}

async function retry() {
  disconnect();
  try {
    await get("api/boot");
  } catch (error) {
    if (error.status === 401) {
      connection("logged out");
      failed(error);
      return;
    }
  }
  clearTimeout(retrying);
  retrying = setTimeout(connect, RETRIES[Math.min(tries++, RETRIES.length - 1)]);
}

function connection(word) {
  if (state.connection === word) return;
  const before = state.connection;
  state.connection = word;
  changes("connection");
  if (word === "paused" && before === "live") announce("Live updates paused", true);
}

const isOpen = (data) => state.run !== null && state.run.run_id === data.run_id && state.run.source.type === "memory";

const TAKE = {
  run(header) {
    putRun(header);
  },
  step(data) {
    if (!isOpen(data)) return;
    if (data.step.n > state.steps.length + 1) {
      again();
      return;
    }
    putStep(data.step);
    if (data.step.kind === "request") announce(`Round ${data.step.round} started`);
    if (data.step.state === "error") announce(`Error: ${data.step.error ? data.step.error.type : data.step.title}`, true);
    follow();
  },
  patch(data) {
    if (!isOpen(data)) return;
    if (!patchStep(data.n, data.fields)) again();
    if (data.fields.state === "error") announce(`Error in step ${data.n}`, true);
    else if (data.fields.finish_reason) announce(`Round ${state.steps[data.n - 1].round}: ${finish(data.fields.finish_reason)}`);
  },
  text(data) {
    if (!isOpen(data)) return;
    const { n, at, text } = data;
    const known = state.words?.n === n ? state.words.text : "";
    if (at > known.length) again();
    else if (at + text.length > known.length) state.words = { n, text: known.slice(0, at) + text };
    changes("words");
    if (known === "") changes("steps", n);
  },
  finding() {}, // Findings are part of the header, which a `run` event brings.
  end(data) {
    changes("ended");
    if (isOpen(data)) {
      announce(ending(data.status), true);
      changes("run");
    }
  },
  gap(data) {
    if (data.run_id === undefined || isOpen(data)) again();
    changes("relist");
  },
};

/** Load the open run again, once however many events ask for it. */
function again() {
  if (reloading !== null) return;
  reloading = reload()
    .catch(failed)
    .finally(() => {
      reloading = null;
    });
}
