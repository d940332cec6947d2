// Sends requests to the service. The token is stored only for this tab, and is never part of an address.

const KEY = "makespan-token";

// The user of the token. Known after the page has started.
export const me = { user: "", role: "reader" };

export function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + "#/plan");
  }
  return sessionStorage.getItem(KEY);
}

export function keep(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

// Maximum size of a part of an output, in bytes.
export const PART = 65536;

export class Refused extends Error {
  constructor(status, problem) {
    super([problem.detail ?? problem.title ?? `status ${status}`, problem.place && `(${problem.place})`, problem.remedy]
      .filter(Boolean).join("; "));
    this.status = status;
  }
}

async function request(path, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  const answer = await fetch(`/api/v1${path}`, { cache: "no-store", ...options, headers });
  if (!answer.ok) {
    let problem = {};
    try { problem = await answer.json(); } catch { /* no problem details */ }
    throw new Refused(answer.status, problem);
  }
  return answer;
}

export const get = async (path) => (await request(path)).json();

export async function send(path, body, method = "POST") {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID?.() ?? String(Math.random()) };
  const answer = await request(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

// Returns the part of an output that begins at a byte. Returns bytes, because the part may end within a character.
export async function log(job, task, stream, from) {
  const answer = await request(`/jobs/${job}/logs/${task}/${stream}?from=${from}&most=${PART}`);
  return { bytes: await answer.arrayBuffer(), size: Number(answer.headers.get("Makespan-Log-Size") ?? 0) };
}

// Calls `heard` for every event while the page is open. `lost` receives the error if the service does not respond, and
// null when the service responds again.
export async function listen(heard, lost) {
  let last = null;
  let pause = 500;
  for (;;) {
    try {
      const headers = last === null ? {} : { "Last-Event-ID": last };
      const answer = await request("/events", { headers });
      lost(null);
      pause = 500;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        rest += value;
        const parts = rest.split("\n\n");
        rest = parts.pop();
        for (const part of parts) {
          const id = /^id: ?(.*)$/m.exec(part);
          if (id) last = id[1];
          if (/^data:/m.test(part)) heard();
        }
      }
    } catch (error) {
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) return lost(error);
      lost(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 10000);
  }
}
