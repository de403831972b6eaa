// Any moment of the past beside now: what was true then, or what the memory knew then, and what changed since.

import { useMemo, useState } from 'preact/hooks';
import { html } from '../html.js';
import { dayAndTime, longDay, number, t } from '../language.js';
import { useFound, useRested } from '../loading.js';
import { Choice, DateField, Empty, Head, Namespaces, Sorry, Waiting } from '../parts.js';
import { namespace, pick } from '../places.js';
import { get } from '../service.js';
import { span } from '../history.js';

export function Time() {
  const [axis, look] = useState('true');
  const [at, put] = useState(null);
  const { data, error } = useFound((ended) => get('moments', { namespace: namespace.value, axis }, ended), [namespace.value, axis]);
  const moments = data?.moments ?? [];
  const empty = error?.status === 404 || (data && moments.length === 0);
  const shown = at ?? (moments.length ? middle(moments) : null);
  return html`
    <${Head} title=${t('time')} about=${t('time_about')}><${Namespaces} value=${namespace.value} onChoose=${(name) => (pick(name), put(null))} /></${Head}>
    <${Choice} label=${t('time_axis')} value=${axis} onChoose=${look} options=${[['true', t('time_true')], ['known', t('time_known')]]} />
    <p class="soft means">${t(axis === 'true' ? 'time_true_means' : 'time_known_means')}</p>
    ${error && !empty ? html`<${Sorry} error=${error} />` : empty ? html`<${Empty} title=${t('nothing_known')}>${t('nothing_known_about')}</${Empty}>` : shown === null ? html`<${Waiting} />` : html`
      <${Slider} moments=${moments} at=${shown} onMove=${put} />
      <${TwoMoments} key=${`${namespace.value} ${axis}`} at=${shown} axis=${axis} />`}`;
}

const middle = (moments) => moments[Math.floor(moments.length / 2)];

function Slider({ moments, at, onMove }) {
  const steps = useMemo(() => [...moments, Date.now()], [moments]);
  const told = (time) => (steps.at(-1) - steps[0] < 3 * 86_400_000 ? dayAndTime(time) : longDay(time));
  const place = Math.max(0, steps.findLastIndex((one) => one <= at));
  const pick = (date) => date && onMove(new Date(`${date}T23:59:59.999`).getTime());
  return html`<div class="slider">
    <div class="between"><p class="moment" role="status">${told(at)}</p>
      <${DateField} label=${t('time_pick')} value=${isoDay(at)} max=${isoDay(Date.now())} onChange=${(event) => pick(event.target.value)} said=${false} /></div>
    <input type="range" min="0" max=${steps.length - 1} step="1" value=${place} aria-label=${t('time_slider')} aria-valuetext=${told(at)} onInput=${(event) => onMove(steps[Number(event.target.value)])} />
    <div class="between soft small"><span>${told(steps[0])}</span><span>${t('time_step')}</span><span>${t('now')}</span></div>
  </div>`;
}

function isoDay(time) {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 10);
}

function TwoMoments({ at, axis }) {
  const rested = useRested(at, 120);
  const { data, error } = useFound((ended) => get('compare', { namespace: namespace.value, at: rested, axis }, ended), [namespace.value, rested, axis], { keep: true });
  if (error) return html`<${Sorry} error=${error} />`;
  if (!data) return html`<${Waiting} />`;
  return html`<section aria-label=${t('time_differences')}>
    <div role="status"><h2>${t('time_changes', data.changes)}</h2></div>
    ${data.pairs.length > 0 && html`<table class="then-now"><thead><tr><th scope="col">${t(axis === 'true' ? 'then_true' : 'then_known')}</th><th scope="col">${t('now')}</th></tr></thead>
      <tbody>${data.pairs.map(({ then, now }) => html`<tr key=${`${then?.id}${now?.id}`}>
        <${Side} fact=${then} mark=${now ? 'was' : 'gone'} /><${Side} fact=${now} mark=${then ? 'changed' : 'new'} /></tr>`)}</tbody></table>`}
    ${data.changes > data.pairs.length && html`<p class="soft">${t('and_more', number(data.changes - data.pairs.length))}</p>`}
    <details class="stayed"><summary>${t('time_same', data.same)}</summary><ul class="plain">${data.stayed.map((fact) => html`<li key=${fact.id} dir="auto">${fact.fact_text}</li>`)}</ul>
      ${data.same > data.stayed.length && html`<p class="soft">${t('and_more', number(data.same - data.stayed.length))}</p>`}</details>
  </section>`;
}

function Side({ fact, mark }) {
  if (!fact) return html`<td class="nothing"><span class="soft">–<span class="hidden">${t('none')}</span></span></td>`;
  return html`<td class=${mark}><span class="mark soft small">${t(`mark_${mark}`)}</span><p class="said" dir="auto">${fact.fact_text}</p><p class="soft small">${span(fact)}</p></td>`;
}
