// The first run, in three steps that can all be passed over: what reads, who may use it, and one sentence that comes back.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { named, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Sorry, Waiting } from '../parts.js';
import { go } from '../places.js';
import { get, post, snapshot } from '../service.js';

const SEEN = 'lean-memory.welcomed';
const seen = signal(localStorage.getItem(SEEN) !== null);

/** Whether this browser was never welcomed and the memory is empty. */
export const isNew = { get value() { return !seen.value && (snapshot.value?.namespaces.length ?? 0) === 0; } };

function finish() {
  localStorage.setItem(SEEN, 'yes');
  seen.value = true;
  go('memories');
}

const STEPS = [ModelStep, ConnectStep, SayStep];

export function Welcome() {
  const [at, step] = useState(0);
  const Shown = STEPS[at];
  const last = at === STEPS.length - 1;
  return html`<div class="welcome">
    <p class="soft small">${t('step', at + 1, STEPS.length)}</p>
    <${Shown} key=${at} />
    <div class="actions">
      ${at > 0 && html`<button onClick=${() => step(at - 1)}>${t('previous')}</button>`}
      <button class="primary" onClick=${() => (last ? finish() : step(at + 1))}>${t(last ? 'finish' : 'next')}</button>
      ${!last && html`<button class="link" onClick=${finish}>${t('skip_all')}</button>`}
    </div>
  </div>`;
}

function ModelStep() {
  const { model } = snapshot.value;
  const { data } = useFound((ended) => get('models', {}, ended), []);
  const larger = data?.tiers.find((one) => one.name !== 'builtin' && !one.here);
  return html`<h1 tabindex="-1">${t('welcome_title')}</h1><p class="lead">${t('welcome_about')}</p>
    <h2>${t('welcome_models')}</h2><p>${t('welcome_models_about')}</p><p class="pill">${t('builtin_model')}: ${named(`state_model_${model.state}`, model.state)}</p>
    ${larger && html`<${Larger} tier=${larger} running=${data.pull?.state === 'running'} />`}`;
}

/** Fetching the larger models now; who goes on without has said later. */
function Larger({ tier, running }) {
  const [begun, begin] = useState(false);
  const [failed, fail] = useState(null);
  const fetchNow = () => post('models/pull', { tier: tier.name, use: true }).then(() => begin(true), fail);
  return html`<p>${t('welcome_larger', size(tier.bytes))}</p>
    ${failed && html`<${Sorry} error=${failed} />`}
    <p role="status">${running || begun ? t('welcome_fetching') : html`<button onClick=${fetchNow}>${t('download_now')}</button>`}</p>`;
}

function ConnectStep() {
  const { data, error } = useFound((ended) => get('assistants', {}, ended), []);
  return html`<h1 tabindex="-1">${t('welcome_connect')}</h1><p class="lead">${t('welcome_connect_about')}</p>
    ${error ? html`<${Sorry} error=${error} />` : !data ? html`<${Waiting} />` : html`<${Found} assistants=${data.assistants.filter((one) => one.installed)} />`}`;
}

function Found({ assistants }) {
  if (assistants.length === 0) return html`<p class="notice">${t('assistants_none')}</p>`;
  return html`<ul class="rows">${assistants.map((one) => html`<${Candidate} key=${`${one.id} ${one.file}`} one=${one} />`)}</ul>`;
}

function Candidate({ one }) {
  const [said, put] = useState('');
  const [busy, work] = useState(false);
  const connect = async () => {
    work(true);
    put(t('trying'));
    try {
      put((await post(`assistants/${one.id}/connect`, {})).sentence);
    } catch (error) {
      put(error.message || t('unreachable'));
    }
    work(false);
  };
  return html`<li class="assistant"><span class="monogram" aria-hidden="true">${one.name.slice(0, 1)}</span><div class="grow"><h2>${one.name}</h2><p class="soft small" role="status">${said || t(`standing_${one.standing.replaceAll(' ', '_')}`)}</p></div>
    ${one.standing !== 'connected' && html`<button disabled=${busy} onClick=${connect}>${t('connect')}<span class="hidden"> ${one.name}</span></button>`}</li>`;
}

function SayStep() {
  const [text, put] = useState('');
  const [told, tellBack] = useState(null);
  const [error, fail] = useState(null);
  const say = async (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    fail(null);
    try {
      const added = await post('add', { text: text.trim(), source: 'user' });
      const found = await post('search', { query: text.trim(), k: 1 });
      tellBack({ learned: added.facts.map((fact) => fact.fact_text), found: found.hits[0]?.fact.fact_text ?? '' });
    } catch (trouble) {
      fail(trouble);
    }
  };
  return html`<h1 tabindex="-1">${t('welcome_say')}</h1><p class="lead">${t('welcome_say_about')}</p>
    <form class="ask" onSubmit=${say}><input aria-label=${t('tell_label')} placeholder=${t('welcome_example')} dir="auto" value=${text} onInput=${(event) => put(event.target.value)} /><button class="primary" type="submit">${t('tell_do')}</button></form>
    ${error && html`<${Sorry} error=${error} />`}
    <div role="status">${told && html`<p>${t('welcome_came_back')}</p><blockquote class="said" dir="auto">${told.found || told.learned[0] || t('told_kept')}</blockquote>`}</div>`;
}
