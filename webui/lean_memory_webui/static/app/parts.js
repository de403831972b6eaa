// What several pages are made of.

import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { html } from './html.js';
import { dayOf, t } from './language.js';
import { snapshot } from './service.js';

/** The head of a page: its name, a sentence, and what can be done on all of it. */
export function Head({ title, about, children }) {
  return html`<header class="head">
    <div><h1 tabindex="-1">${title}</h1>${about && html`<p class="soft">${about}</p>`}</div>
    ${children && html`<div class="actions">${children}</div>`}
  </header>`;
}

/** A number from 0 to 1 as a small bar with its name. */
export function Score({ name, value }) {
  const shown = Math.max(0, Math.min(1, value));
  return html`<div class="score">
    <span>${name}</span>
    <span class="bar" role="meter" aria-label=${name} aria-valuemin="0" aria-valuemax="1" aria-valuenow=${shown.toFixed(2)}><span style=${{ width: `${shown * 100}%` }}></span></span>
    <span class="figure">${shown.toFixed(2)}</span>
  </div>`;
}

/** What went wrong, in place of what should be here. */
export function Sorry({ error }) {
  return html`<p class="notice trouble" role="alert">${error.message || t('unreachable')}</p>`;
}

/** Nothing is here, and what to do about it. */
export function Empty({ title, children }) {
  return html`<div class="empty"><p class="said">${title}</p><div class="soft">${children}</div></div>`;
}

export function Waiting() {
  return html`<p class="soft waiting" aria-busy="true">${t('loading')}</p>`;
}

/** One of several, as a row of buttons. `options` are `[value, name]`. */
export function Choice({ label, options, value, onChoose }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map(([one, name]) => html`<button key=${one} aria-pressed=${one === value} onClick=${() => onChoose(one)}>${name}</button>`)}
  </div>`;
}

export function Switch({ on, label, onChange, disabled, title }) {
  return html`<button class="switch" role="switch" aria-checked=${on} aria-label=${label} title=${title} disabled=${disabled} onClick=${() => onChange(!on)}><span></span></button>`;
}

/** A day to choose; beside the field it stands with the month in letters, as browsers write fields in their own order. */
export function DateField({ label, value, onInput, said = true, ...more }) {
  return html`<span class="picker"><label class="picker"><span class="soft">${label}</span><input type="date" value=${value} onInput=${onInput && ((event) => onInput(event.target.value))} ...${more} /></label>
    ${said && value && html`<span class="soft">${dayOf(value)}</span>`}</span>`;
}

/** Which namespace is looked at; nothing to choose where there is one only. */
export function Namespaces({ value, onChoose }) {
  const id = useId();
  const pointed = useRef(false);
  const names = snapshot.value?.namespaces ?? [];
  const choose = ({ target }) => {
    // Who chose with the mouse is done with the list: the page's keys are meant for the page again, not for another choice.
    if (pointed.current) target.blur();
    onChoose(target.value);
  };
  if (names.length < 2) return null;
  return html`<label class="picker" for=${id}><span class="soft">${t('namespace')}</span>
    <select id=${id} value=${value} onPointerDown=${() => (pointed.current = true)} onBlur=${() => (pointed.current = false)} onChange=${choose}>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
  </label>`;
}

/** A modal question or form; Escape and the cross close it. */
export function Dialog({ title, onClose, children }) {
  const box = useRef();
  const id = useId();
  // With the drawing itself: until it is open, keys and clicks go to the page below.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  return html`<dialog ref=${box} aria-labelledby=${id} onCancel=${(event) => (event.preventDefault(), onClose())}>
    <div class="dialog-head"><h2 id=${id}>${title}</h2><button class="quiet" aria-label=${t('close')} onClick=${onClose}>×</button></div>
    ${children}
  </dialog>`;
}

/** A text that grows with what is typed. Ctrl or Command with Enter sends it. */
export function Writing({ label, value, onInput, onSend, rows = 3, hint }) {
  const id = useId();
  const send = (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && (event.preventDefault(), onSend?.());
  return html`<div class="writing"><label for=${id}>${label}</label>
    <textarea id=${id} autofocus rows=${rows} dir="auto" value=${value} onInput=${(event) => onInput(event.target.value)} onKeyDown=${send}></textarea>
    ${hint && html`<p class="soft small">${hint}</p>`}
  </div>`;
}

const DRAWN = {
  review: 'M4 6.500h10M4 12h7M4 17.500h5M14.500 16l2.500 2.500 4-5',
  memories: 'M6 4h9.500A2.500 2.500 0 0 1 18 6.500V20H8.500A2.500 2.500 0 0 1 6 17.500zM6 17.500A2.500 2.500 0 0 1 8.500 15H18M10 8h4.500',
  time: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.300l3 1.900',
  assistants: 'M5 6h14v9.500h-6L9 19v-3.500H5zM9.500 10.700h.01M14.500 10.700h.01',
  models: 'M12 4l7 4v8l-7 4-7-4V8zM5 8l7 4 7-4M12 12v8',
  activity: 'M3.500 12.500h4l2.500-6 4 11 2.500-5h4',
  settings: 'M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4',
  menu: 'M4 7h16M4 12h16M4 17h16',
};

/** A small drawing beside a name, which says the same. */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${DRAWN[name]} /></svg>`;
}
