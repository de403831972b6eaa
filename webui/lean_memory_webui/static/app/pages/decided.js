// What was decided and tidied lately, and taking it back.

import { takeBack } from '../decisions.js';
import { html } from '../html.js';
import { dayAndTime, named, t } from '../language.js';
import { useFound } from '../loading.js';
import { Empty, Sorry, Waiting } from '../parts.js';
import { namespace } from '../places.js';
import { get } from '../service.js';

export function Decided() {
  const ask = (ended) => Promise.all([get('review/decided', { namespace: namespace.value, limit: 100 }, ended), get('maintenance/status', { namespace: namespace.value }, ended)]);
  const { data, error } = useFound(ask, [namespace.value]);
  if (error && error.status !== 404) return html`<${Sorry} error=${error} />`;
  if (!data && !error) return html`<${Waiting} />`;
  const [{ proposals }, { runs }] = data ?? [{ proposals: [] }, { runs: [] }];
  const done = runs.filter((one) => one.state !== 'running');
  return html`<section aria-label=${t('decided_tab')}>
    <p class="soft keys">${t('decided_about')}</p>
    ${proposals.length === 0 ? html`<${Empty} title=${t('nothing_decided')} />` : html`<ul class="rows">${proposals.map((one) => html`<${Past} key=${one.id} one=${one} />`)}</ul>`}
    ${done.length > 0 && html`<h2>${t('runs')}</h2><ul class="rows">${done.map((one) => html`<${Run} key=${one.id} run=${one} />`)}</ul>`}
  </section>`;
}

function Past({ one }) {
  const text = one.text || one.facts.map((fact) => fact.fact_text).join(' · ') || one.entity;
  const undoable = one.state === 'rejected' || (one.state === 'approved' && one.kind !== 'forget');
  return html`<li class="item"><div><p dir="auto">${text}</p>
    <p class="soft small">${named(`kind_${one.kind}`, one.kind)} · ${named(`state_${one.state}`, one.state)}${one.decided_at ? ` · ${dayAndTime(one.decided_at)}` : ''}</p></div>
    ${undoable && html`<button aria-label=${`${t('undo')}: ${text}`} onClick=${() => takeBack(one.namespace, one.id)}>${t('undo')}</button>`}</li>`;
}

function Run({ run }) {
  const name = dayAndTime(run.started_at);
  return html`<li class="item"><div><p>${name} · ${named(`run_${run.state}`, run.state)}</p><p class="soft small">${run.report?.sentence ?? ''}${run.reverted_at ? ` ${t('reverted')}` : ''}</p></div>
    ${run.state === 'done' && !run.reverted_at && !run.report?.dry_run && html`<button aria-label=${`${t('undo')}: ${name}`} onClick=${() => takeBack(run.namespace, run.id)}>${t('undo')}</button>`}</li>`;
}
