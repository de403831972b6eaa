// Which page is shown. The address holds its name alone: what the person looks at is no business of the browser's history.

import { signal } from '@preact/signals';

export const PAGES = ['review', 'memories', 'time', 'assistants', 'models', 'activity', 'settings'];
const FIRST = 'memories';

export const page = signal(read());
/** The namespace that the pages look at; empty for the default one. */
export const namespace = signal('');

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
  const name = location.hash.replace(/^#\//, '');
  return PAGES.includes(name) || name === 'welcome' ? name : FIRST;
}
