// Who read and wrote how much, and when; never what.

import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { clock, longDay, named, number, t } from '../language.js';
import { useFound } from '../loading.js';
import { Empty, Head, Sorry, Waiting } from '../parts.js';
import { get } from '../service.js';

const OWNER = 'lean-memory';
const SHOWN = 500;

export function Activity() {
  const [who, choose] = useState('');
  const { data, error } = useFound((ended) => get('access', { limit: SHOWN, client: who }, ended), [who]);
  const { data: known } = useFound((ended) => get('clients', {}, ended), []);
  const entries = (data?.entries ?? []).filter((entry) => who || entry.client !== OWNER);
  return html`
    <${Head} title=${t('activity')} about=${t('activity_about')}>
      <label class="picker"><span class="soft">${t('who')}</span><select value=${who} onChange=${(event) => choose(event.target.value)}>
        <option value="">${t('all_assistants')}</option>${(known?.clients ?? []).map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}
        <option value=${OWNER}>${t('own_programs')}</option></select></label>
    </${Head}>
    ${error ? html`<${Sorry} error=${error} />` : !data ? html`<${Waiting} />` : entries.length === 0 ? html`<${Empty} title=${t('no_activity')}>${t('no_activity_about')}</${Empty}>` : byDay(entries).map(([name, all]) => html`<section key=${name}><h2 class="day">${name}</h2><ul class="feed">${all.map((entry) => html`<${Use} key=${`${entry.at}${entry.client}${entry.verb}`} entry=${entry} />`)}</ul></section>`)}`;
}

function byDay(entries) {
  const days = new Map();
  for (const entry of entries) {
    const name = longDay(entry.at);
    days.set(name, [...(days.get(name) ?? []), entry]);
  }
  return [...days];
}

function Use({ entry }) {
  const what = entry.outcome === 'ok' ? named(`did_${entry.verb.replace('-', '_')}`, entry.verb) : t('did_not', entry.verb, named(`outcome_${entry.outcome}`, entry.outcome));
  return html`<li><time class="soft" datetime=${new Date(entry.at).toISOString()}>${clock(entry.at)}</time>
    <span><strong dir="auto">${entry.client === OWNER ? t('you') : entry.client}</strong> ${what}${entry.facts > 0 && ` · ${t('fact_count', number(entry.facts), entry.facts)}`}${entry.namespace && html` · <span class="soft" dir="auto">${entry.namespace}</span>`}</span></li>`;
}
