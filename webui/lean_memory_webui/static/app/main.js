// The window: where it is, what is shown there, and how it is with the service.

import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { language, t } from './language.js';
import { Icon } from './parts.js';
import { PAGES, follow, go, page } from './places.js';
import { begin, connection, refusal, returns, snapshot } from './service.js';
import { tell, Toasts } from './toasts.js';
import { wear } from './theme.js';
import { Correcting } from './correcting.js';
import { waiting } from './pending.js';
import { Activity } from './pages/activity.js';
import { Assistants } from './pages/assistants.js';
import { Keeping } from './pages/keeping.js';
import { Memories } from './pages/memories.js';
import { Models } from './pages/models.js';
import { Review } from './pages/review.js';
import { Settings } from './pages/settings.js';
import { Time } from './pages/time.js';
import { Welcome, isNew } from './pages/welcome.js';

const SHOWN = { review: Review, memories: Memories, time: Time, assistants: Assistants, models: Models, activity: Activity, settings: Settings, keeping: Keeping, welcome: Welcome };

function App() {
  useEffect(() => {
    document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en';
    document.title = page.value === 'welcome' ? 'Lean Memory' : `${t(page.value)} – Lean Memory`;
  }, [language.value, page.value]);
  useEffect(() => void (returns.value && tell(t('back'))), [returns.value]);
  // The first steps stay until they are done, also once something is remembered.
  const welcomes = connection.value === 'on' && page.value === 'memories' && isNew.value;
  useEffect(() => void (welcomes && go('welcome')), [welcomes]);
  if (connection.value === 'out') return html`<${Outside} />`;
  if (snapshot.value === null) return html`<main class="outside" aria-busy="true"><p class="soft">${t('entering')}</p></main>`;
  const Shown = SHOWN[page.value];
  return html`<div class="app">
    <a class="skip" href="#main" onClick=${skip}>${t('skip')}</a>
    <${Sidebar} />
    <div class="content">
      <${Lost} />
      <main id="main" tabindex="-1" data-page=${page.value}><${Shown} key=${page.value} /></main>
    </div>
    <${Correcting} />
    <${Toasts} />
  </div>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById('main').focus();
}

function Sidebar() {
  const [open, setOpen] = useState(false);
  const button = useRef();
  const close = (event) => event.key === 'Escape' && open && (setOpen(false), button.current.focus());
  return html`<nav class=${open ? 'nav open' : 'nav'} aria-label=${t('pages')} onKeyDown=${close}>
    <div class="brand"><img src="/static/icon.svg" alt="" width="26" height="26" /><span>Lean Memory</span></div>
    <button ref=${button} class="burger" aria-expanded=${open} aria-controls="pages" onClick=${() => setOpen(!open)}><${Icon} name="menu" />${t(page.value === 'welcome' ? 'menu' : page.value)}</button>
    <ul id="pages">
      ${PAGES.map(
        (name) => html`<li key=${name}><a href=${`#/${name}`} aria-current=${page.value === name ? 'page' : null} onClick=${() => setOpen(false)}>
          <${Icon} name=${name} /><span>${t(name)}</span>
          ${name === 'review' && waiting.value > 0 && html`<span class="count" aria-label=${t('waiting', waiting.value)}>${waiting.value}</span>`}
        </a></li>`,
      )}
    </ul>
  </nav>`;
}

function Lost() {
  return html`<div aria-live="assertive">${(connection.value === 'lost' || snapshot.value.stopping) && html`<p class="lost">${t('lost')}</p>`}</div>`;
}

function Outside() {
  return html`<main class="outside">
    <img src="/static/icon.svg" alt="" width="56" height="56" />
    <h1>${t('outside')}</h1>
    <p>${refusal.value || t('outside_why')}</p>
    <p class="soft">${t('outside_how')}</p>
    <pre><code>lean-memory open</code></pre>
  </main>`;
}

wear();
follow((name) => go(name));
render(html`<${App} />`, document.getElementById('app'));
begin();
