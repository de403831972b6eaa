// Forgetting: first exactly what would be erased, then the question, then the deed.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { html } from './html.js';
import { nameOf, t } from './language.js';
import { useFound } from './loading.js';
import { Choice, Dialog, Sorry, Waiting } from './parts.js';
import { post } from './service.js';
import { tell } from './toasts.js';

/** The fact that may be forgotten, or null. */
export const forgetting = signal(null);

export function Forgetting() {
  const fact = forgetting.value;
  return fact && html`<${Question} key=${fact.id} fact=${fact} />`;
}

function Question({ fact }) {
  const [reach, put] = useState('fact_id');
  const [failed, fail] = useState(null);
  const [busy, work] = useState(false);
  const asked = { namespace: fact.namespace, [reach]: { fact_id: fact.id, episode_id: fact.episode_id, entity: fact.subject }[reach] };
  const { data, error } = useFound((ended) => post('would-forget', asked, ended), [reach, fact.id]);
  const close = () => (forgetting.value = null);
  const erase = async () => {
    work(true);
    try {
      const { backups_holding_copies: copies, ...gone } = await post('forget', asked);
      tell(t('forgotten', gone.facts) + (copies.length ? ` ${t('forgotten_copies', copies.length)}` : ''));
      close();
    } catch (trouble) {
      fail(trouble);
      work(false);
    }
  };
  return html`<${Dialog} title=${t('forget_title')} onClose=${close}>
    <${Choice} label=${t('forget_reach')} value=${reach} onChoose=${put}
      options=${[['fact_id', t('forget_fact')], ['episode_id', t('forget_episode')], ['entity', t('forget_entity', nameOf(fact.subject))]]} />
    ${failed || error ? html`<${Sorry} error=${failed ?? error} />` : data === null ? html`<${Waiting} />` : html`<p>${t('forget_texts', data.texts.length)}</p>
      <ul class="erased">${data.texts.map((text, at) => html`<li key=${at} dir="auto">${text}</li>`)}</ul>`}
    <p class="soft small">${t('forget_about')}</p>
    <div class="actions end">
      <button autofocus onClick=${close}>${t('keep_it')}</button>
      <button class="danger" disabled=${busy || data === null} onClick=${erase}>${t('forget_do')}</button>
    </div>
  </${Dialog}>`;
}
