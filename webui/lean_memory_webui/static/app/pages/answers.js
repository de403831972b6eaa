// What an assistant would be told, and why it is these answers in this order.

import { html } from '../html.js';
import { t } from '../language.js';
import { useFound } from '../loading.js';
import { Empty, Score, Sorry, Waiting } from '../parts.js';
import { namespace } from '../places.js';
import { post } from '../service.js';
import { Fact } from './memories.js';

export function Answers({ question, onClose }) {
  const ask = (ended) => post('search', { query: question, k: 10, namespace: namespace.value || undefined }, ended);
  const { data, error } = useFound(ask, [question, namespace.value]);
  if (error) return html`<${Sorry} error=${error} />`;
  if (data === null) return html`<${Waiting} />`;
  return html`<section aria-label=${t('answers')}>
    <div class="between"><p class="soft" role="status">${data.is_known && data.hits.length ? t('answers_found', data.hits.length) : t('answers_none')}</p><button onClick=${onClose}>${t('back_to_all')}</button></div>
    ${data.hits.length === 0 && html`<${Empty} title=${t('nothing_like_it')} />`}
    <ul class="facts answers">${data.hits.map((hit) => html`<${Fact} key=${hit.fact.id} fact=${hit.fact} aside=${html`<${Why} hit=${hit} />`} />`)}</ul>
    ${data.hits[0]?.degraded.length > 0 && html`<p class="notice">${t('degraded')}</p>`}
  </section>`;
}

function Why({ hit }) {
  const ways = [hit.sparse_rank && t('by_words', hit.sparse_rank), hit.dense_rank && t('by_meaning', hit.dense_rank)].filter(Boolean);
  return html`<details class="why"><summary>${t('why')}</summary>
    <div class="scores">
      <${Score} name=${t('relevance')} value=${hit.relevance} />
      <${Score} name=${t('recency')} value=${hit.recency} />
      <${Score} name=${t('importance')} value=${hit.importance} />
    </div>
    <p class="soft small">${hit.relevance < 0.3 ? t('weak') : ''} ${ways.join(' · ')}</p>
    ${hit.source && html`<blockquote dir="auto">${hit.source}</blockquote>`}
  </details>`;
}
