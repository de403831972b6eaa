// What the person has half written. It outlives a reload of the page and a restart of the service, and ends with the browser's tab.

import { signal } from '@preact/signals';

const PREFIX = 'lean-memory.draft.';

/** The fact that is being corrected, `{}` for something new to tell, or null. `{fact, namespace}` with the text under `draftOf(…)`. */
export const writing = signal(restored());

export const draftOf = (key) => sessionStorage.getItem(PREFIX + key);

export function keep(key, text) {
  sessionStorage.setItem(PREFIX + key, text);
}

export function drop(key) {
  sessionStorage.removeItem(PREFIX + key);
}

/** Begin to write; what is written is kept under `key`. */
export function write(what) {
  writing.value = what;
  sessionStorage.setItem(`${PREFIX}open`, JSON.stringify(what));
}

/** Stop writing; with `done` the text goes too, otherwise it waits for the next time. */
export function stop(done) {
  if (done && writing.value) drop(writing.value.key);
  writing.value = null;
  sessionStorage.removeItem(`${PREFIX}open`);
}

function restored() {
  return JSON.parse(sessionStorage.getItem(`${PREFIX}open`) ?? 'null');
}
