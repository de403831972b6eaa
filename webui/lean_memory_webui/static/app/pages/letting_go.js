// Letting go: rules of how long things are kept, and forgetting all of a client, of a stretch of time, or of a sentence.

import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { number, t } from '../language.js';
import { useFound, useRested } from '../loading.js';
import { Choice, DateField, Dialog, Sorry, Waiting } from '../parts.js';
import { namespace } from '../places.js';
import { call, get, post } from '../service.js';
import { complain, tell } from '../toasts.js';

const USUAL_DAYS = 365;

const useTellers = () => useFound((ended) => get('tellers', { namespace: namespace.value }, ended), [namespace.value]).data?.tellers ?? [];

function Teller({ tellers, value, onChoose, label, all }) {
  return html`<label class="picker"><span class="soft">${label}</span><select value=${value} onChange=${(event) => onChoose(event.target.value)}>
    <option value="">${all}</option>${tellers.filter((one) => one.client !== null).map((one) => html`<option key=${one.client} value=${one.client}>${one.client} (${number(one.texts)})</option>`)}</select></label>`;
}

export function Rules() {
  const { data, error } = useFound((ended) => get('retention', {}, ended), []);
  const [making, make] = useState(false);
  const remove = (rule) => call('DELETE', `retention/${rule.id}`).then(() => tell(t('rule_removed')), complain);
  return html`<section class="keeping" aria-label=${t('rules')}>
    <div class="between"><h2>${t('rules')}</h2><button disabled=${!namespace.value} onClick=${() => make(true)}>${t('rule_new')}</button></div>
    <p class="soft small">${t('rules_about')}</p>
    ${error ? html`<${Sorry} error=${error} />` : !data ? html`<${Waiting} />` : data.rules.length === 0 ? html`<p class="soft">${t('rules_none')}</p>` : html`
      <ul class="rows">${data.rules.map((rule) => html`<li class="item" key=${rule.id}><div dir="auto">${said(rule)}</div><button onClick=${() => remove(rule)}>${t('remove')}<span class="hidden"> ${said(rule)}</span></button></li>`)}</ul>`}
    ${data?.problems.map((sentence) => html`<p class="notice" key=${sentence}>${sentence}</p>`)}
    ${making && html`<${RuleForm} onClose=${() => make(false)} />`}
  </section>`;
}

const said = (rule) => t('rule_said', rule.client ?? '', rule.namespace ?? '', number(rule.days), t(`rule_does_${rule.act.replace('-', '_')}`));

function RuleForm({ onClose }) {
  const tellers = useTellers();
  const [client, choose] = useState('');
  const [days, put] = useState(USUAL_DAYS);
  const [act, decide] = useState('put-away');
  const [failed, fail] = useState(null);
  const fits = Number.isInteger(days) && days >= 1 && days <= 36_500;
  const rule = { namespace: namespace.value, days, act, ...(client ? { client } : {}) };
  const { data } = useFound((ended) => (fits ? post('retention/preview', rule, ended) : Promise.resolve(null)), [useRested(JSON.stringify(rule))], { keep: true });
  const save = () => post('retention', rule).then(() => (tell(t('saved')), onClose()), fail);
  return html`<${Dialog} title=${t('rule_title')} onClose=${onClose}>
    <${Teller} tellers=${tellers} value=${client} onChoose=${choose} label=${t('told_by')} all=${t('by_anybody')} />
    <div><label class="picker"><span class="soft">${t('rule_days')}</span><input type="number" min="1" max="36500" value=${days} onInput=${(event) => put(event.target.valueAsNumber)} /></label></div>
    <div class="inline"><span class="soft">${t('rule_then')}</span><${Choice} label=${t('rule_then')} value=${act} onChoose=${decide} options=${[['put-away', t('rule_put_away')], ['ask', t('rule_ask')]]} /></div>
    <p class="soft small">${t(act === 'ask' ? 'rule_ask_about' : 'rule_put_away_about')}</p>
    ${failed && html`<${Sorry} error=${failed} />`}
    <p role="status">${fits && data ? t('rule_today', data.total) : ''}</p>
    ${fits && data?.texts.length > 0 && html`<ul class="erased" tabindex="0" aria-label=${t('rule_today', data.total)}>${data.texts.map((one, at) => html`<li key=${at} dir="auto">${one.text}</li>`)}</ul>`}
    <div class="actions end"><button onClick=${onClose}>${t('cancel')}</button><button class="primary" disabled=${!fits} onClick=${save}>${t('rule_set')}</button></div>
  </${Dialog}>`;
}

export function LetGo() {
  const tellers = useTellers();
  const [reach, choose] = useState('client');
  const [client, name] = useState('');
  const [since, from] = useState('');
  const [until, to] = useState('');
  const [sentence, say] = useState('');
  const [shown, show] = useState(false);
  // A day that is named last is meant whole.
  const scope = { client: client && { client }, dates: (since || until) && { ...(since && { since }), ...(until && { until: following(until) }) }, sentence: sentence.trim() && { sentence: sentence.trim() } }[reach];
  const dated = (label, value, put) => html`<${DateField} label=${label} value=${value} onInput=${put} />`;
  return html`<section class="keeping" aria-label=${t('let_go')}>
    <h2>${t('let_go')}</h2><p class="soft small">${t('let_go_about')}</p>
    <div class="inline"><${Choice} label=${t('forget_reach')} value=${reach} onChoose=${choose} options=${[['client', t('reach_client')], ['dates', t('reach_dates')], ['sentence', t('reach_sentence')]]} />
      ${reach === 'client' && html`<${Teller} tellers=${tellers} value=${client} onChoose=${name} label=${t('told_by')} all=${t('choose_one')} />`}
      ${reach === 'dates' && html`${dated(t('reach_from'), since, from)}${dated(t('reach_to'), until, to)}`}
      ${reach === 'sentence' && html`<label class="picker wide"><span class="soft">${t('reach_words')}</span><input type="text" dir="auto" value=${sentence} onInput=${(event) => say(event.target.value)} /></label>`}
      <button disabled=${!scope || !namespace.value} onClick=${() => show(true)}>${t('let_go_show')}</button></div>
    ${shown && scope && html`<${Erasing} asked=${{ namespace: namespace.value, ...scope }} onClose=${() => show(false)} onDone=${() => (show(false), say(''), name(''))} />`}
  </section>`;
}

/** The day after, as a date input writes it. */
function following(date) {
  const next = new Date(`${date}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}

function Erasing({ asked, onClose, onDone }) {
  const [busy, work] = useState(false);
  const [failed, fail] = useState(null);
  const { data, error } = useFound((ended) => post('would-forget-all', asked, ended), [asked]);
  const erase = async () => {
    work(true);
    try {
      const done = await post('forget-all', asked);
      const copies = done.backups_holding_copies.length;
      const scrub = { label: t('scrub'), run: () => scrubbed(asked.namespace) };
      tell(t('forgotten', done.facts) + (copies ? ` ${t('forgotten_copies', copies)}` : ''), copies ? scrub : null);
      onDone();
    } catch (trouble) {
      fail(trouble);
      work(false);
    }
  };
  const trouble = failed ?? error;
  return html`<${Dialog} title=${t('forget_title')} onClose=${onClose}>
    ${trouble ? html`<${Sorry} error=${trouble} />` : !data ? html`<${Waiting} />` : html`<p>${t('forget_texts', data.texts.length)}</p>
      <ul class="erased" tabindex="0" aria-label=${t('forget_title')}>${data.texts.map((text, at) => html`<li key=${at} dir="auto">${text}</li>`)}</ul>`}
    <p class="soft small">${t('forget_about')}</p>
    <div class="actions end"><button autofocus onClick=${onClose}>${t('keep_it')}</button>
      <button class="danger" disabled=${busy || !data || data.texts.length === 0 || Boolean(trouble)} onClick=${erase}>${t('forget_do')}</button></div>
  </${Dialog}>`;
}

const scrubbed = (name) => post('backups/scrub', { namespace: name }).then((done) => tell(done.left.join(' ') || t('scrubbed', done.backups.length)), complain);
