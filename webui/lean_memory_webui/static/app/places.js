// Which page is shown. The address holds its name alone: what the person looks at is no business of the browser's history.

import { computed, signal } from '@preact/signals';
import { snapshot } from './service.js';

export const PAGES = ['review', 'memories', 'time', 'assistants', 'models', 'activity', 'settings'];
/** Pages that are reached from others. */
const BESIDE = ['welcome', 'keeping'];
const FIRST = 'memories';

export const page = signal(read());
const DEFAULT = 'default';
const picked = signal('');

/** The namespace that the pages look at: the one picked, else the default one, else the first there is; empty where there is none. */
export const namespace = computed(() => {
  const names = snapshot.value?.namespaces ?? [];
  return [picked.value, DEFAULT].find((name) => names.includes(name)) ?? names[0] ?? '';
});

export function pick(name) {
  picked.value = name;
}

export function go(name) {
  location.hash = `#/${name}`;
}

export function follow() {
  addEventListener('hashchange', () => {
    if (location.hash === '#main') return;
    page.value = read();
    scrollTo(0, 0);
    requestAnimationFrame(() => document.querySelector('main h1')?.focus({ preventScroll: true }));
  });
}

function read() {
  // A link that lets a browser in may name the page after its code.
  const name = location.hash.replace(/^#(code=[\w-]+)?\//, '');
  return PAGES.includes(name) || BESIDE.includes(name) ? name : FIRST;
}
