// The first run, in three steps that can all be passed over: what reads, who may use it, and one sentence that comes back.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { named, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Sorry, Waiting } from '../parts.js';
import { go } from '../places.js';
import { get, post, snapshot } from '../service.js';
import { Download, Packages, useBeat } from './models.js';

const SEEN = 'lean-memory.welcomed';
const ANSWER = 'lean-memory.models-answer';
const seen = signal(localStorage.getItem(SEEN) !== null);
const answered = signal(localStorage.getItem(ANSWER) ?? '');

/** Whether this browser was never welcomed and the memory is empty. */
export const isNew = { get value() { return !seen.value && (snapshot.value?.namespaces.length ?? 0) === 0; } };

function finish() {
  localStorage.setItem(SEEN, 'yes');
  seen.value = true;
  go('memories');
}

/** Keep what was said to the larger models: `now`, `later`, `never`, or nothing yet. */
function answer(said) {
  localStorage.setItem(ANSWER, said);
  answered.value = said;
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
  const [beat, next] = useState(0);
  const { data } = useFound((ended) => get('models', {}, ended), [beat], { keep: true });
  const again = () => next((held) => held + 1);
  useBeat(data, data?.pull?.state === 'running', again);
  const larger = data?.tiers.find((one) => one.name !== 'builtin' && !one.here);
  return html`<h1 tabindex="-1">${t('welcome_title')}</h1><p class="lead">${t('welcome_about')}</p>
    <h2>${t('welcome_models')}</h2><p>${t('welcome_models_about')}</p><p class="pill">${t('builtin_model')}: ${named(`state_model_${model.state}`, model.state)}</p>
    ${larger && html`<${Larger} tier=${larger} view=${data} pull=${data.pull?.tier === larger.name ? data.pull : null} again=${again} />`}`;
}

/** The larger models: now, from a folder, later, or never. Asked once; who goes on without an answer has said later. */
function Larger({ tier, view, pull, again }) {
  const [asksFolder, askFolder] = useState(false);
  const [failed, fail] = useState(null);
  const act = (path, body) => (fail(null), post(`models/${path}`, body).then(again, fail));
  const begin = (folder) => (answer('now'), askFolder(false), act('pull', { tier: tier.name, use: true, ...(folder ? { folder } : {}) }));
  const running = pull?.state === 'running';
  const said = answered.value;
  if (said === 'never' && !running) return html`<p role="status">${t('welcome_never_said')} <button class="link" onClick=${() => answer('')}>${t('welcome_ask_again')}</button></p>`;
  return html`<p>${t('welcome_larger', size(tier.bytes))}</p>
    <${Packages} view=${view} />
    ${failed && html`<${Sorry} error=${failed} />`}
    ${pull && html`<div role="status">${running && html`<p>${t('welcome_fetching')}</p>`}<${Download} pull=${pull} /></div>`}
    ${!running && said === 'later' && html`<p role="status">${t('welcome_later_said')}</p>`}
    <div class="actions">${running
      ? html`<button onClick=${() => act('cancel', {})}>${t('pause')}</button>`
      : html`<button onClick=${() => begin(null)}>${t(pull ? 'resume' : 'download_now')}</button>
        <button aria-expanded=${asksFolder} onClick=${() => askFolder(!asksFolder)}>${t('welcome_folder')}</button>
        <button aria-pressed=${said === 'later'} onClick=${() => answer('later')}>${t('welcome_later')}</button>
        <button onClick=${() => answer('never')}>${t('welcome_never')}</button>`}</div>
    ${asksFolder && !running && html`<${Folder} choose=${begin} />`}`;
}

/** A bundle on this computer, such as one that `lean-memory models bundle` wrote onto a stick. */
function Folder({ choose }) {
  const [folder, put] = useState('');
  const send = (event) => (event.preventDefault(), folder.trim() && choose(folder.trim()));
  return html`<form class="ask" onSubmit=${send}><input aria-label=${t('welcome_folder_label')} placeholder="/media/stick" dir="auto" value=${folder} onInput=${(event) => put(event.target.value)} /><button type="submit">${t('welcome_folder_do')}</button></form>
    <p class="soft small">${t('welcome_folder_about')}</p>`;
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
