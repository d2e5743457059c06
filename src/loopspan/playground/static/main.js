// The beginning: log in with the link's code, ask what there is, show it.

import { chart } from "./chart.js";
import { detail, statusLine } from "./detail.js";
import { byId, fill, h, icon, RunClock, say } from "./dom.js";
import { form } from "./form.js";
import { keyboard, showRuns } from "./keys.js";
import { menus } from "./menus.js";
import { choices, list, runList } from "./runs.js";
import { searching } from "./search.js";
import { failed, follow, go, onOpened } from "./session.js";
import { stepList } from "./steps.js";
import { changes, get, post, setFollow, settings, state, subscribe } from "./store.js";
import { listenTo, startStream } from "./stream.js";
import { strip } from "./strip.js";

customElements.define("run-clock", RunClock);

/** Exchange the code of the link, and take it out of the address at once. */
async function logIn() {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("login");
  if (code === null) return;
  const run = given.get("run");
  history.replaceState({}, "", run === null ? location.pathname + location.search : `#run/${encodeURIComponent(run)}`);
  try {
    await post("login", { code });
  } catch (error) {
    if (error.code !== "wrong_code") throw error;
    // The link was used before; who used it here still has the session.
    state.loginError = error;
  }
}

async function begin() {
  for (const place of document.querySelectorAll("[data-icon]")) place.replaceWith(icon(place.dataset.icon));
  try {
    await logIn();
    state.boot = await get("api/boot");
  } catch (error) {
    lockedOut(error);
    return;
  }
  byId("gate").hidden = true;
  byId("app").hidden = false;
  for (const part of [failures, connection, statusLine, strip, stepList, detail, chart, searching, menus, runList, keyboard, following, drawer]) part();
  say(byId("who"), state.boot.principal.name);
  say(byId("pid"), `pid ${state.boot.process.pid}`);
  byId("pid").title = `loopspan ${state.boot.version}; memory is per process`;
  state.follow = settings.get("follow", true);
  choices();
  form();
  onOpened(listenTo);
  startStream(`${state.boot.process.epoch}.${state.boot.seq}`);
  window.addEventListener("popstate", () => go(location.hash));
  window.addEventListener("hashchange", () => go(location.hash));
  await Promise.all([list().catch(failed), go(location.hash)]);
  changes("run");
  changes("selection");
}

/** Without a session there is a form for the code or the token. */
function lockedOut(error) {
  byId("gate").hidden = false;
  byId("login").hidden = error.status !== 401;
  say(byId("gate-told"), error.status === 401 ? (state.loginError ? `${state.loginError.message}. ${state.loginError.hint}.` : "") : `${error.message}. ${error.hint}`);
  byId("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await post("login", { code: byId("code").value.trim() });
      location.reload();
    } catch (again) {
      say(byId("gate-told"), [again.message, again.hint].filter(Boolean).join(". "));
      byId("code").focus();
    }
  });
}

/** An error is told beside what is there, and stays until it is dismissed. */
function failures() {
  const close = () => fill(byId("failure"));
  subscribe("failure", () => {
    const { failure } = state;
    fill(byId("failure"), h("div", { class: "alert error-box" }, h("span", { class: "error" }, icon("cross")), h("span", {}, h("strong", {}, failure.message), failure.hint ? ` ${failure.hint}` : ""), h("button", { class: "small quiet", onclick: close }, "Dismiss")));
  });
  subscribe("told", () => fill(byId("failure"), h("div", { class: "alert" }, h("span", {}, state.told.join(" · ")), h("button", { class: "small quiet", onclick: close }, "Dismiss"))));
}

function connection() {
  subscribe("connection", () => {
    const words = { live: "live", connecting: "connecting", paused: "live updates paused", "logged out": "logged out: reload to log in" };
    say(byId("connection"), words[state.connection]);
    byId("connection").dataset.state = state.connection;
  });
}

function following() {
  const box = byId("follow");
  box.addEventListener("change", () => {
    setFollow(box.checked);
    follow();
  });
  subscribe("selection", () => {
    box.checked = state.follow;
  });
}

/** Below 900 px the runs are a drawer. */
function drawer() {
  byId("runs-open").addEventListener("click", () => {
    showRuns();
    byId("run-search").focus();
  });
  byId("runs-close").addEventListener("click", () => {
    document.body.classList.remove("drawer");
    byId("runs-open").focus();
  });
}

begin();
