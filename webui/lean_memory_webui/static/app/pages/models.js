// What reads and finds: the models that are in use, fetching others, and the disk they need.

import { useEffect, useState } from 'preact/hooks';
import { html } from '../html.js';
import { duration, named, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Head, Sorry, Waiting } from '../parts.js';
import { get, post, snapshot } from '../service.js';
import { complain, tell } from '../toasts.js';

const BUILTIN = 'builtin';
const BEAT = 1000;
const PHASES = new Set(['checking', 'fetching', 'unpacking']);

/** Look again a moment after `data` came, as long as something moves. */
export function useBeat(data, moves, again) {
  useEffect(() => {
    if (!moves) return undefined;
    const timer = setTimeout(again, BEAT);
    return () => clearTimeout(timer);
  }, [data, moves]);
}

export function Models() {
  const { model, degraded } = snapshot.value;
  const [beat, next] = useState(0);
  const { data, error } = useFound((ended) => get('models', {}, ended), [beat], { keep: true });
  const { data: files } = useFound((ended) => get('status', {}, ended), []);
  const again = () => next((held) => held + 1);
  useBeat(data, data?.pull?.state === 'running' || data?.vectors.length > 0, again);
  const act = (path, body, said) => post(`models/${path}`, body).then(() => (said && tell(said), again()), complain);
  return html`
    <${Head} title=${t('models')} about=${t('models_about')} />
    <ul class="rows">
      <${Entry} name=${t('builtin_model')} about=${`${named(`model_${model.state}`, model.state)}${model.message ? ` · ${model.message}` : ''}`} state=${named(`state_model_${model.state}`, model.state)} kind=${model.state} />
      ${data?.roles.filter((one) => one.state !== 'absent').map((one) => html`<${Entry} key=${one.role} name=${t(`role_${one.role}`)} about=${[one.model_id, one.message].filter(Boolean).join(' · ')} state=${t(`role_state_${one.state}`)} kind=${one.state} />`)}
    </ul>
    ${!data && !error && html`<${Waiting} />`}
    ${degraded.length > 0 && html`<p class="notice">${t('degraded')}</p>`}
    ${error && error.status !== 404 && html`<${Sorry} error=${error} />`}
    ${data?.vectors.map((one) => html`<div key=${one.namespace}><p>${t('vectors', one.namespace)}</p><progress max=${one.total} value=${one.done} aria-label=${t('vectors', one.namespace)}></progress></div>`)}
    ${data && html`<h2>${t('tiers')}</h2><${Packages} view=${data} /><ul class="rows">${data.tiers.filter((one) => one.name !== BUILTIN).map((one) => html`<${Tier} key=${one.name} tier=${one} inUse=${data.tier === one.name} chosen=${data.chosen === one.name} pull=${data.pull?.tier === one.name ? data.pull : null} act=${act} />`)}
      ${data.chosen !== BUILTIN && html`<li class="item"><span>${t('builtin_only')}</span><button onClick=${() => act('use', { tier: BUILTIN }, t('tier_chosen'))}>${t('use')}</button></li>`}</ul>`}
    <h2>${t('disk')}</h2>
    <ul class="rows">${(files?.namespaces ?? []).map((one) => html`<li class="item" key=${one.name}><span dir="auto">${one.name}</span><span class="soft">${size(one.bytes)}</span></li>`)}
      ${data?.tiers.flatMap((tier) => tier.models).filter((one) => one.here_bytes > 0).map((one) => html`<li class="item" key=${one.id + one.role}><span>${one.id}</span><span class="soft">${size(one.here_bytes)}</span></li>`)}</ul>`;
}

/** What is to be known where the packages that run larger models are not here: that a download brings them, or what to do. */
export function Packages({ view: { runnable, along, remedy } }) {
  if (runnable) return null;
  return html`<p class="notice">${along > 0 ? t('along', size(along), remedy) : t('not_runnable', remedy)}</p>`;
}

function Entry({ name, about, state, kind }) {
  return html`<li class="assistant"><span class="monogram" aria-hidden="true">${name.slice(0, 1)}</span><div class="grow"><h2>${name}</h2><p class="soft small">${about}</p></div><span class=${`pill ${kind}`}>${state}</span></li>`;
}

function Tier({ tier, inUse, chosen, pull, act }) {
  const here = tier.models.reduce((sum, one) => sum + one.here_bytes, 0);
  const running = pull?.state === 'running';
  return html`<li class="assistant"><div class="grow"><h2>${named(`tier_${tier.name}`, tier.name)}</h2>
      <p class="soft small">${tier.here ? t('tier_here', size(tier.bytes)) : here > 0 ? t('tier_partly', size(tier.bytes), size(here)) : t('tier_away', size(tier.bytes))}</p>
      <ul class="small soft">${tier.models.map((one) => html`<li key=${one.id + one.role}>${t(`role_${one.role}`)}: ${one.id} · ${one.licence}</li>`)}</ul></div>
    <div class="actions">
      ${inUse ? html`<span class="pill">${t('in_use')}</span>` : chosen && html`<span class="pill loading">${t('from_next_start')}</span>`}
      ${!tier.here && !running && html`<button onClick=${() => act('pull', { tier: tier.name, use: true })}>${t(here > 0 ? 'resume' : 'download')}</button>`}
      ${running && html`<button onClick=${() => act('cancel', {})}>${t('pause')}</button>`}
      ${tier.here && !chosen && html`<button onClick=${() => act('use', { tier: tier.name }, t('tier_chosen'))}>${t('use')}</button>`}
      ${tier.here && !chosen && !inUse && html`<button onClick=${() => act('remove', { tier: tier.name }, t('removed'))}>${t('remove')}</button>`}
    </div>
    ${pull && html`<div class="grow-all" role="status"><${Download} pull=${pull} /></div>`}
  </li>`;
}

/** How far a download is, or why it ended. */
export function Download({ pull }) {
  if (pull.state !== 'running') return pull.sentence ? html`<p class="small">${pull.sentence}</p>` : null;
  const left = pull.seconds_left === null ? '' : ` · ${t('time_left', duration(pull.seconds_left))}`;
  return html`<progress max="1" value=${pull.total ? pull.done / pull.total : undefined} aria-label=${t('download')}></progress>
    <p class="small soft">${t(PHASES.has(pull.phase) ? pull.phase : 'fetching', size(pull.done), size(pull.total))}${left}${pull.trouble ? ` · ${pull.trouble}` : ''}</p>`;
}
