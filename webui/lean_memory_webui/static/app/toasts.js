// Short news at the edge of the page, read out by screen readers, with at most one thing to do about it.

import { signal } from '@preact/signals';
import { html } from './html.js';
import { t } from './language.js';

const news = signal([]);
let last = 0;

/** Tell something; `action` is `{label, run}`. It stays while it holds an action a little longer. */
export function tell(text, action = null, kind = 'fine') {
  const id = ++last;
  news.value = [...news.value.slice(-2), { id, text, action, kind }];
  setTimeout(() => drop(id), action ? 12_000 : 6000);
}

export const complain = (error) => tell(error.message || t('unreachable'), null, 'trouble');

function drop(id) {
  news.value = news.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${news.value.map(
      (one) => html`<div class=${`toast ${one.kind}`} key=${one.id}>
        <span dir="auto">${one.text}</span>
        ${one.action && html`<button class="link" onClick=${() => (drop(one.id), one.action.run())}>${one.action.label}</button>`}
        <button class="quiet" aria-label=${t('dismiss')} onClick=${() => drop(one.id)}>×</button>
      </div>`,
    )}
  </div>`;
}
