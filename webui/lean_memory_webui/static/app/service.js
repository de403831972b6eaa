// The service: its routes as calls, its state as signals, and the stream that says when to look again.

import { batch, signal } from '@preact/signals';

const KEY = 'lean-memory.key';
const LONGEST_REST = 3000;
const SILENCE = 40_000;

/** `entering`, `out` (this browser was not let in), `on`, or `lost` (the service does not answer; it is tried again). */
export const connection = signal('entering');
/** Why this browser is out, in a sentence of the service; empty where it never was in. */
export const refusal = signal('');
/** The newest whole state, or null. */
export const snapshot = signal(null);
/** Counts up whenever what is shown may be another: somebody wrote, or the service came back. */
export const pulse = signal(0);
/** How often the service was seen to come back. */
export const returns = signal(0);

/** What the service refused or could not do; `message` is a sentence for the person. */
export class Trouble extends Error {
  constructor(message, kind, status) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

/** Call a route; the answer's JSON. Raises `Trouble`. */
export async function call(method, path, { query, body, signal: ended } = {}) {
  const answer = await send(method, path, { query, body, ended });
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

export const get = (path, query, ended) => call('GET', path, { query, signal: ended });
export const post = (path, body, ended) => call('POST', path, { body, signal: ended });

/** Let this browser in with the code in the address, if there is one, then follow the service for good. */
export async function begin() {
  await enterByAddress();
  // A new link may be opened in a tab that shows the page already.
  addEventListener('hashchange', async () => (await enterByAddress()) && connection.value === 'out' && resume());
  follow();
}

async function enterByAddress() {
  const [, code, page] = /^#code=([\w-]+)(\/\w+)?$/.exec(location.hash) ?? [];
  if (!code) return false;
  history.replaceState(null, '', `${location.pathname}${page ? `#${page}` : ''}`);
  return enter(code);
}

function resume() {
  connection.value = 'entering';
  follow();
}

/** Forget this browser. */
export async function leave() {
  await call('DELETE', 'window/session');
  localStorage.removeItem(KEY);
  connection.value = 'out';
}

async function enter(code) {
  try {
    const given = await post('window/session', { code });
    localStorage.setItem(KEY, given.key);
    refusal.value = '';
    return true;
  } catch (error) {
    refusal.value = error.message;
    return false;
  }
}

/** Call a route; the answer itself, once it is one. A body that is a piece of a file goes as it is. Raises `Trouble`. */
export async function send(method, path, { query, body, ended } = {}) {
  const asked = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== ''));
  const address = `/api/v1/${path}${asked.size ? `?${asked}` : ''}`;
  const headers = { 'X-Lean-Memory-Window': localStorage.getItem(KEY) ?? '' };
  const raw = body instanceof Blob;
  if (body !== undefined) headers['Content-Type'] = raw ? 'application/octet-stream' : 'application/json';
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body === undefined || raw ? body : JSON.stringify(body), signal: ended, credentials: 'same-origin' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    if (connection.value === 'on') connection.value = 'lost';
    throw new Trouble('', 'Unreachable', 0);
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401) connection.value = 'out';
  throw new Trouble(problem.message ?? '', problem.error ?? '', answer.status);
}

async function follow() {
  let rest = 250;
  while (connection.value !== 'out') {
    try {
      for await (const state of states()) {
        rest = 250;
        take(state);
      }
    } catch (error) {
      if (error instanceof SyntaxError) throw error;
      // Whatever else ends the stream, it is begun anew.
    }
    if (connection.value === 'on') connection.value = 'lost';
    await new Promise((go) => setTimeout(go, rest));
    rest = Math.min(rest * 2, LONGEST_REST);
  }
}

function take(state) {
  const before = snapshot.value;
  const came = before !== null && (connection.value === 'lost' || before.instance !== state.instance);
  batch(() => {
    snapshot.value = state;
    connection.value = 'on';
    if (came) returns.value += 1;
    if (came || before === null || changed(before, state)) pulse.value += 1;
  });
}

function changed(before, now) {
  return before.version !== now.version;
}

async function* states() {
  const ending = new AbortController();
  let watch;
  const alive = () => {
    clearTimeout(watch);
    watch = setTimeout(() => ending.abort(), SILENCE);
  };
  alive();
  try {
    const answer = await send('GET', 'events', { ended: ending.signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      const parts = (held + value).split('\n\n');
      held = parts.pop();
      for (const part of parts) {
        const data = part.split('\n').find((line) => line.startsWith('data: '));
        if (data) yield JSON.parse(data.slice(6));
      }
    }
  } finally {
    clearTimeout(watch);
    ending.abort();
  }
}
