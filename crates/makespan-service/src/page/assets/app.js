// The page. The part of the address after # selects the view.

import { Refused, get, keep, listen, me, token } from "./api.js";
import { el, relative } from "./dom.js";
import { views } from "./views.js";

const main = document.getElementById("main");
const trouble = document.getElementById("trouble");
let current = null;
let due = null;

function complain(text) {
  trouble.textContent = text ?? "";
  trouble.hidden = !text;
}

// Shows a form for the token. The person who starts the service finds the token in the store of the service.
function ask(why) {
  current = null;
  const field = el("input", { type: "password", autocomplete: "off", required: true, id: "token", "aria-describedby": "where" });
  const form = el("form", { onsubmit: (event) => { event.preventDefault(); keep(field.value.trim()); location.reload(); } },
    el("label", { class: "wide" }, "Token", field),
    el("p", { class: "wide", id: "where" }, 
      "The token is in the file token of the store; ", el("code", {}, "makespan token add USER --role submitter"), " makes a token for another user. The token is stored only for this tab. Each new tab asks for it."),
    el("button", { class: "main" }, "Open"));
  main.replaceChildren(el("h1", {}, "Who are you?"), el("div", { class: "panel" }, why ? el("p", { role: "alert" }, why) : "", form));
  field.focus();
}

function failed(error) {
  if (error instanceof Refused && error.status === 401) {
    keep(null);
    ask("The service does not know this token.");
  } else if (error instanceof Refused) {
    complain(error.message);
  } else {
    complain("The service does not answer. The page continues as soon as it answers.");
  }
}

async function show() {
  const [name, argument] = location.hash.replace(/^#\/?/, "").split("/");
  const view = views[name] ?? views.plan;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${name || "plan"}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current?.view !== view || current.argument !== argument) {
    current = { view, argument, root: el("div") };
    main.replaceChildren(current.root);
    current.refresh = view(current.root, argument);
  }
  const { refresh } = current;
  try {
    await refresh();
    complain(null);
  } catch (error) {
    failed(error);
  }
}

// Limits refreshes to two per second for any number of events.
function soon() {
  due ??= setTimeout(() => { due = null; show(); }, 500);
}

async function begin() {
  if (!token()) return ask();
  try {
    Object.assign(me, await get("/whoami"));
    document.getElementById("who").textContent = `${me.user}, ${me.role}`;
    const health = await get("/health");
    const warning = document.getElementById("runs-as");
    warning.textContent = `Commands run as the user ${health.runs_as}: whoever may submit may do what ${health.runs_as} may.`;
    warning.hidden = false;
  } catch (error) {
    failed(error);
    if (error instanceof Refused) return;
  }
  addEventListener("hashchange", () => { show(); main.focus(); });
  if (!location.hash) history.replaceState(null, "", "#/plan");
  await show();
  setInterval(soon, 5000);
  let since = null;
  listen(soon, (error) => {
    if (!error) {
      since = null;
      return soon();
    }
    since ??= Date.now() / 1000;
    if (!(error instanceof Refused)) complain(`The service does not answer; it stopped ${relative(since)}. The page continues as soon as it answers.`);
  });
}

begin();
