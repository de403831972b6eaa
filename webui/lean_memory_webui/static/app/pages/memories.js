// Everything the memory knows, by namespace and entity; and the search as an assistant has it.

import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { correct, tellSomething } from '../correcting.js';
import { forgetting, Forgetting } from '../forgetting.js';
import { Chain, span } from '../history.js';
import { html } from '../html.js';
import { language, nameOf, number, t } from '../language.js';
import { useFound, useKept, useRested, useSteps } from '../loading.js';
import { Empty, Head, Namespaces, Sorry, Waiting } from '../parts.js';
import { namespace, pick } from '../places.js';
import { get, post } from '../service.js';
import { complain, tell } from '../toasts.js';
import { Answers } from './answers.js';

const STEP = 100;
const NOTHING = { entities: [], facts: [], total: 0 };
/** Which fact is open; it stays open while the list around it changes. */
const open = signal(null);

export function Memories() {
  const [asked, ask] = useState('');
  const [typed, type] = useState('');
  const [entity, about] = useState(null);
  const [filter, setFilter] = useState({ text: '', history: false, cold: false });
  const choose = (name) => (pick(name), about(null));
  const submit = (event) => (event.preventDefault(), ask(typed.trim()));
  return html`
    <${Head} title=${t('memories')} about=${t('memories_about')}>
      <${Namespaces} value=${namespace.value} onChoose=${choose} />
      <button class="primary" onClick=${() => tellSomething(namespace.value)}>${t('tell_something')}</button>
    </${Head}>
    <form class="ask" role="search" onSubmit=${submit}>
      <input type="search" aria-label=${t('ask')} placeholder=${t('ask')} dir="auto" value=${typed} onInput=${(event) => (type(event.target.value), event.target.value || ask(''))} />
      <button type="submit">${t('ask_do')}</button>
    </form>
    ${asked ? html`<${Answers} question=${asked} onClose=${() => (ask(''), type(''))} />` : html`<${Known} key=${namespace.value} entity=${entity} onEntity=${about} filter=${filter} onFilter=${setFilter} />`}
    <${Forgetting} />`;
}

function Known({ entity, onEntity, filter, onFilter }) {
  const [count, show] = useState(STEP);
  const text = useRested(filter.text);
  useEffect(() => show(STEP), [entity, text, filter.history, filter.cold]);
  const asked = { namespace: namespace.value, entity, text, include_history: filter.history, include_cold: filter.cold, limit: Math.min(count, 500) };
  const { data, error } = useFound((ended) => get('browse', asked, ended), [namespace.value, entity, text, filter.history, filter.cold, count], { keep: true });
  const { entities, facts, total } = data ?? NOTHING;
  const drawn = useSteps(facts.length);
  const kept = useKept();
  // What is typed into the filter draws neither list anew.
  const list = useMemo(() => facts.slice(0, drawn).map((fact) => kept(fact.id, [JSON.stringify(fact)], () => html`<${Fact} key=${fact.id} fact=${fact} />`)), [facts, drawn]);
  const names = useMemo(() => html`<${Entities} entities=${entities} value=${entity} onChoose=${onEntity} />`, [entities, entity]);
  if (error && error.status !== 404) return html`<${Sorry} error=${error} />`;
  if (!data && !error) return html`<${Waiting} />`;
  const bare = entities.length === 0 && !text;
  if (bare) return html`<${Empty} title=${t('nothing_known')}>${t('nothing_known_about')}</${Empty}>`;
  return html`<div class="columns">
    ${names}
    <section aria-label=${t('facts')}>
      <${Filters} filter=${filter} onFilter=${onFilter} total=${total} />
      ${facts.length === 0 && html`<${Empty} title=${t('none_fit')} />`}
      <ul class="facts">${list}</ul>
      ${facts.length < total && count < 500 && html`<${More} left=${total - facts.length} onMore=${() => show((held) => held + STEP)} />`}
      ${facts.length < total && count >= 500 && html`<p class="soft">${t('narrow_down', number(total))}</p>`}
    </section>
  </div>`;
}

function Entities({ entities, value, onChoose }) {
  const drawn = useSteps(entities.length, 50);
  return html`<div class="entities">
    <label class="only-small picker"><span class="soft">${t('about_whom')}</span>
      <select value=${value ?? ''} onChange=${(event) => onChoose(event.target.value || null)}>
        <option value="">${t('everything')}</option>
        ${entities.slice(0, drawn).map((one) => html`<option key=${one.name} value=${one.name}>${nameOf(one.name)} (${one.facts})</option>`)}
      </select></label>
    <ul class="only-wide" aria-label=${t('about_whom')}>
      <li><button aria-pressed=${value === null} onClick=${() => onChoose(null)}><span>${t('everything')}</span></button></li>
      ${entities.slice(0, Math.min(drawn, 200)).map((one) => html`<li key=${one.name}><button aria-pressed=${value === one.name} title=${nameOf(one.name)} onClick=${() => onChoose(one.name)}>
        <span dir="auto">${nameOf(one.name)}</span><span class="soft">${number(one.facts)}</span></button></li>`)}
    </ul>
  </div>`;
}

function Filters({ filter, onFilter, total }) {
  const tick = (name) => (event) => onFilter({ ...filter, [name]: event.target.checked });
  return html`<div class="filters">
    <input type="search" aria-label=${t('filter')} placeholder=${t('filter')} dir="auto" value=${filter.text} onInput=${(event) => onFilter({ ...filter, text: event.target.value })} />
    <label><input type="checkbox" checked=${filter.history} onChange=${tick('history')} />${t('with_history')}</label>
    <label><input type="checkbox" checked=${filter.cold} onChange=${tick('cold')} />${t('with_cold')}</label>
    <span class="soft" role="status">${t('fact_count', number(total), total)}</span>
  </div>`;
}

/** One fact: its sentence, and opened, where it comes from and what can be done with it. */
export function Fact({ fact, aside }) {
  const isOpen = open.value === fact.id;
  const ended = fact.valid_to !== null || !fact.is_latest;
  return html`<li class=${isOpen ? 'fact open' : 'fact'}>
    <button class="row" aria-expanded=${isOpen} onClick=${() => (open.value = isOpen ? null : fact.id)}>
      <span class=${ended ? 'said past' : 'said'} dir="auto">${fact.fact_text}</span>
      <span class="soft small">${span(fact)}${fact.tier === 'cold' ? ` · ${t('put_away')}` : ''}${ended ? ` · ${t('no_longer')}` : ''}${fact.flags.includes('instruction-like') ? ` · ${t('steering')}` : ''}</span>
    </button>
    ${aside}
    ${isOpen && html`<div class="details">
      <div class="actions">
        ${fact.tier === 'cold' && html`<button onClick=${() => bringBack(fact)}>${t('bring_back')}</button>`}
        <button onClick=${() => correct(fact)}>${t('correct')}</button>
        <button class="danger" onClick=${() => (forgetting.value = fact)}>${t('forget')}</button>
      </div>
      <p class="soft small means">${fact.tier === 'cold' ? `${t('put_away_means')} ` : ''}${t('correct_means')} ${t('forget_means')}</p>
      <p class="label">${t('came_to_be')}</p>
      <${Chain} fact=${fact} />
    </div>`}
  </li>`;
}

const bringBack = (fact) => post('promote', { namespace: fact.namespace, fact_id: fact.id }).then(() => tell(t('brought_back')), complain);

function More({ left, onMore }) {
  const end = useRef();
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && onMore(), { rootMargin: '400px' });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [left]);
  return html`<p ref=${end} class="more"><button onClick=${onMore}>${t('more', number(left))}</button></p>`;
}
