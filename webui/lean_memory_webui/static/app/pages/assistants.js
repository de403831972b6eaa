// Who may use the memory: one row each, with a switch, what it did today, and how to connect it.

import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { ago, number, t } from '../language.js';
import { useFound } from '../loading.js';
import { Head, Sorry, Switch, Waiting } from '../parts.js';
import { call, get, post, snapshot } from '../service.js';
import { complain, tell } from '../toasts.js';

const LOG = 2000;

export function Assistants() {
  const ask = (ended) => Promise.all([get('assistants', {}, ended), get('clients', {}, ended), get('access', { limit: LOG }, ended)]);
  const { data, error } = useFound(ask, []);
  if (!data) return html`<${Head} title=${t('assistants')} about=${t('assistants_about')} />${error ? html`<${Sorry} error=${error} />` : html`<${Waiting} />`}`;
  const [{ assistants, snippet }, { clients }, { entries }] = data;
  const rows = joined(assistants, clients, entries);
  const [here, away] = [rows.filter((row) => row.installed || row.caller || row.standing !== 'not connected'), rows.filter((row) => !row.installed && !row.caller && row.standing === 'not connected')];
  return html`
    <${Head} title=${t('assistants')} about=${t('assistants_about')} />
    ${here.length === 0 && html`<p class="notice">${t('assistants_none')}</p>`}
    <ul class="rows">${here.map((row) => html`<${Row} key=${row.key} row=${row} />`)}</ul>
    ${away.length > 0 && html`<details class="away"><summary>${t('assistants_away', away.length)}</summary><ul class="rows">${away.map((row) => html`<${Row} key=${row.key} row=${row} />`)}</ul></details>`}
    <${Snippet} text=${snippet} />`;
}

/** Known assistants with what they did as callers, and callers that are none of them. */
function joined(assistants, clients, entries) {
  const today = new Date().setHours(0, 0, 0, 0);
  const did = (name) => {
    const mine = entries.filter((entry) => entry.client === name && entry.outcome === 'ok' && entry.at >= today);
    const sum = (wrote) => mine.filter((entry) => (entry.verb === 'add') === wrote).reduce((total, entry) => total + entry.facts, 0);
    return { read: sum(false), wrote: sum(true) };
  };
  const known = assistants.map((one) => ({ ...one, key: `${one.id} ${one.file}`, caller: clients.find((caller) => caller.name === one.id), ...did(one.id) }));
  const ids = new Set(assistants.map((one) => one.id));
  const others = clients.filter((caller) => !ids.has(caller.name)).map((caller) => ({ key: caller.name, id: caller.name, name: caller.name, caller, installed: true, standing: 'by itself', ...did(caller.name) }));
  return [...known, ...others];
}

function Row({ row }) {
  const { caller } = row;
  const change = (what) => call('PATCH', `clients/${encodeURIComponent(row.id)}`, { body: what }).catch(complain);
  const { busy, said, isNew, act } = useActs(row.id, caller?.last_seen);
  const canConnect = row.standing !== 'by itself' && row.standing !== 'connected';
  return html`<li class="assistant">
    <span class="monogram" aria-hidden="true">${row.name.slice(0, 1)}</span>
    <div class="grow"><h2 dir="auto">${row.name}</h2><p class="soft small">${status(row, isNew)}</p></div>
    ${canConnect && html`<button class=${row.installed ? 'primary' : ''} disabled=${busy} onClick=${act('connect')}>${t(row.standing === 'outdated' ? 'connect_again' : 'connect')}<span class="hidden"> ${row.name}</span></button>`}
    ${caller && html`<span class="inline"><span class=${caller.paused ? 'pill loading' : 'soft'} aria-hidden="true">${t(caller.paused ? 'switched_off' : 'switched_on')}</span><${Switch} on=${!caller.paused} label=${t('may_use', row.name)} title=${t(caller.paused ? 'switch_resumes' : 'switch_pauses', row.name)} onChange=${(on) => change({ paused: !on })} /></span>`}
    <details class="grow-all"><summary>${t('details')}<span class="hidden"> ${row.name}</span></summary><${Details} row=${row} change=${change} busy=${busy} act=${act} /></details>
    <p role="status" class=${said ? 'small grow-all' : 'hidden'}>${said}</p>
  </li>`;
}

/** How an assistant stands; right after connecting its only call was our own trial, which is not told as its. */
function status({ caller, standing, installed, read, wrote }, isNew) {
  if (caller?.paused) return t('paused');
  const parts = [t(`standing_${standing.replaceAll(' ', '_')}`)];
  if (!installed) parts.push(t('not_installed'));
  if (caller?.last_seen && !isNew) parts.push(t('last_seen', ago(caller.last_seen)));
  if (read || wrote) parts.push(t('did_today', number(read), number(wrote)));
  return parts.join(' · ');
}

/** Connecting, disconnecting and trying, and what came of it; that an assistant is to be restarted is over once it has called. */
function useActs(id, seen) {
  const [busy, work] = useState(false);
  const [{ said, until }, put] = useState({ said: '', until: Infinity });
  const say = (sentence, end = Infinity) => put({ said: sentence, until: end });
  const act = (what) => async () => {
    work(true);
    say(t('trying'));
    try {
      const { sentence } = await post(`assistants/${id}/${what}`, {});
      say(sentence, what === 'connect' ? Date.now() : Infinity);
    } catch (error) {
      say(error.message || t('unreachable'));
    }
    work(false);
  };
  return { busy, said: seen > until ? '' : said, isNew: until < Infinity && !(seen > until), act };
}

function Details({ row, change, busy, act }) {
  const connected = ['connected', 'edited', 'outdated'].includes(row.standing);
  return html`<div class="details">
    ${row.file && html`<p class="soft small break">${row.file}</p>`}
    ${row.caller && html`<${Home} caller=${row.caller} change=${change} />`}
    ${connected && html`<div class="actions"><button disabled=${busy} onClick=${act('test')}>${t('test')}</button><button disabled=${busy} onClick=${act('disconnect')}>${t('disconnect')}</button></div>`}
  </div>`;
}

function Home({ caller, change }) {
  const own = !(snapshot.value?.namespaces ?? []).includes(caller.name) && caller.default_namespace !== caller.name;
  const names = new Set([...(snapshot.value?.namespaces ?? []), caller.default_namespace].filter(Boolean));
  const set = (event) => change(event.target.value ? { default_namespace: event.target.value } : { reset_namespace: true });
  return html`<label class="picker"><span>${t('home_namespace')}</span><select value=${caller.default_namespace ?? ''} onChange=${set}>
    <option value="">${t('home_default')}</option>${[...names].map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    ${own && html`<option value=${caller.name}>${t('home_own')}</option>`}</select></label>`;
}

function Snippet({ text }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => tell(t('copied')), () => tell(t('copy_failed')));
  return html`<details class="away"><summary>${t('other_assistant')}</summary>
    <p class="soft">${t('snippet_about')}</p><pre tabindex="0" aria-label=${t('other_assistant')}><code>${text}</code></pre><button onClick=${copy}>${t('copy')}</button></details>`;
}
