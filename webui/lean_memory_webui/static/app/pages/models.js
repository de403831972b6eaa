// What reads and finds: the models that are in use, what they need, and how warm they are.

import { html } from '../html.js';
import { named, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Head, Sorry } from '../parts.js';
import { get, snapshot } from '../service.js';

export function Models() {
  const { model, degraded } = snapshot.value;
  const { data, error } = useFound((ended) => get('status', {}, ended), []);
  return html`
    <${Head} title=${t('models')} about=${t('models_about')} />
    <ul class="rows"><li class="assistant"><span class="monogram" aria-hidden="true">M</span><div class="grow"><h2>${t('builtin_model')}</h2>
      <p class="soft small">${named(`model_${model.state}`, model.state)}${model.message ? ` · ${model.message}` : ''}</p></div>
      <span class=${`pill ${model.state}`}>${named(`state_model_${model.state}`, model.state)}</span></li></ul>
    ${degraded.length > 0 && model.state !== 'ready' && html`<p class="notice">${t('degraded')}</p>`}
    <h2>${t('disk')}</h2>
    ${error ? html`<${Sorry} error=${error} />` : data && html`<ul class="rows">${data.namespaces.map((one) => html`<li class="item" key=${one.name}><span dir="auto">${one.name}</span><span class="soft">${size(one.bytes)}</span></li>`)}</ul>`}`;
}
