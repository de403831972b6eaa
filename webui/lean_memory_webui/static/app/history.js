// How a fact came to be and what became of it, as a line of time with the sentences it came from.

import { html } from './html.js';
import { day, t, named } from './language.js';
import { useFound } from './loading.js';
import { Sorry, Waiting } from './parts.js';
import { get } from './service.js';

/** The chain of a fact, the newest link first. */
export function Chain({ fact }) {
  const { data, error } = useFound((ended) => get('history', { namespace: fact.namespace, fact_id: fact.id }, ended), [fact.namespace, fact.id]);
  if (error) return html`<${Sorry} error=${error} />`;
  if (data === null) return html`<${Waiting} />`;
  return html`<ol class="chain" aria-label=${t('history')}>${[...data.history].reverse().map((link) => html`<${Link} key=${link.fact.id} link=${link} single=${data.history.length === 1} />`)}</ol>`;
}

function Link({ link, single }) {
  const { fact } = link;
  return html`<li class=${fact.valid_to === null && fact.is_latest ? 'now' : 'past'}>
    ${!single && html`<p class="value" dir="auto">${fact.object || fact.fact_text}</p>`}
    <p class="soft small">${span(fact)}${link.reason && html` · ${named(`reason_${link.reason}`, link.reason)}`}</p>
    ${link.source_text && html`<blockquote dir="auto">${link.source_text}</blockquote>`}
    <p class="soft small">${t('learned', day(fact.recorded_at))}${link.confirmed_at.length > 0 && ` · ${t('confirmed', link.confirmed_at.length, day(link.confirmed_at.at(-1)))}`}</p>
  </li>`;
}

/** When a fact holds or held, in words. */
export function span(fact) {
  if (fact.modality === 'planned') return t('planned_for', day(fact.valid_at));
  if (fact.valid_to !== null) return day(fact.valid_at) === day(fact.valid_to) ? t('on_day', day(fact.valid_at)) : t('from_to', day(fact.valid_at), day(fact.valid_to));
  return fact.is_latest ? t('since', day(fact.valid_at)) : t('said_on', day(fact.valid_at));
}
