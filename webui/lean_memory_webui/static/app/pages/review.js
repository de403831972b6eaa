// What waits for the person's word: grouped by whom it is about, safest first, decided with a click or a key.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { approveAll, decide, dismiss, fates, mine, undo } from '../decisions.js';
import { html } from '../html.js';
import { dayAndTime, nameOf, t } from '../language.js';
import { useFound, useKept, useSteps } from '../loading.js';
import { Choice, Dialog, Empty, Head, Namespaces, Sorry, Waiting } from '../parts.js';
import { pendingIn } from '../pending.js';
import { namespace, pick } from '../places.js';
import { get, snapshot } from '../service.js';
import { Decided } from './decided.js';
import { Rewriting, Tidying } from './review_forms.js';
import { Proposal } from './proposal.js';

const SAFE = new Set(['merge', 'demotion']);
const ALL = 1000;

export function Review() {
  const [view, see] = useState('waiting');
  const [tidying, tidy] = useState(false);
  const { data, error } = useFound((ended) => get('review', { namespace: namespace.value, limit: ALL }, ended), [namespace.value]);
  const missing = error?.status === 404;
  const total = data?.total ?? 0;
  return html`
    <${Head} title=${t('review')} about=${t('review_about')}>
      <${Namespaces} value=${namespace.value} onChoose=${pick} />
      <button onClick=${() => tidy(true)}>${t('tidy')}</button>
    </${Head}>
    <${Choice} label=${t('review')} value=${view} onChoose=${see} options=${[['waiting', t('waiting_tab', total)], ['decided', t('decided_tab')]]} />
    ${view === 'decided' ? html`<${Decided} />` : error && !missing ? html`<${Sorry} error=${error} />` : !data && !missing ? html`<${Waiting} />` : html`<${Queue} groups=${data?.groups ?? []} onTidy=${() => tidy(true)} />`}
    ${tidying && html`<${Tidying} onClose=${() => tidy(false)} />`}`;
}

function Queue({ groups, onTidy }) {
  const [at, point] = useState(null);
  const [form, open] = useState(null);
  const known = useRef(new Map());
  const proposals = useMemo(() => groups.flatMap((group) => group.proposals), [groups]);
  for (const one of proposals) known.current.set(one.id, one);
  const shown = withGhosts(groups, at, known.current);
  const order = shown.flatMap((group) => group.proposals.map((one) => one.id));
  const last = useRef([]);
  const chosen = order.includes(at) ? at : (follower(last.current, order, at) ?? order[0] ?? null);
  useLayoutEffect(() => {
    last.current = order;
    if (chosen === at) return;
    point(chosen);
    // The button that was clicked went with its card: the next card takes the place, for the keyboard and for those who listen.
    if (at !== null && document.activeElement === document.body) document.getElementById(`p-${chosen}`)?.focus({ preventScroll: true });
  });
  // Keys may come faster than the page is drawn: each acts on what the one before it chose.
  const live = useRef({});
  const drawn = useSteps(order.length, 24);
  live.current = { order, chosen };
  const move = (step) => {
    const { order: all, chosen: from } = live.current;
    const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(from) + step))] ?? null;
    if (next !== from) dismiss(from);
    live.current.chosen = next;
    point(next);
    requestAnimationFrame(() => document.getElementById(`p-${next}`)?.focus());
  };
  useKeys({ live, known: known.current, move, open, isOpen: form !== null });
  if (order.length === 0) return html`<${Nothing} onTidy=${onTidy} />${form === 'help' && html`<${Help} onClose=${() => open(null)} />`}`;
  return html`<p class="soft keys">${t('keys_hint')} <button class="link" onClick=${() => open('help')}>${t('keys')}</button></p>
    ${firstOf(shown, Math.max(drawn, order.indexOf(chosen) + 1)).map((group) => html`<${Group} key=${group.entity} group=${group} chosen=${chosen} onChoose=${point} onEdit=${(one) => open(one)} />`)}
    ${form === 'help' && html`<${Help} onClose=${() => open(null)} />`}
    ${form && form !== 'help' && html`<${Rewriting} proposal=${form} onClose=${() => open(null)} />`}`;
}

/** The groups, with the proposal at hand left in its place when somebody else decided it. */
function withGhosts(groups, at, known) {
  const present = groups.some((group) => group.proposals.some((one) => one.id === at));
  const lost = known.get(at);
  const ghost = !present && lost && (!mine.has(at) || fates.value.has(at)) ? { ...lost, elsewhere: true } : null;
  if (!ghost) return groups;
  const home = groups.find((group) => group.entity === ghost.entity);
  if (!home) return [{ entity: ghost.entity, proposals: [ghost] }, ...groups];
  return groups.map((group) => (group === home ? { ...group, proposals: [ghost, ...group.proposals] } : group));
}

/** The groups with as many cards as are drawn by now; each knows how many it has. */
function firstOf(groups, count) {
  let left = count;
  const begun = groups.map((group) => {
    const cards = group.proposals.slice(0, Math.max(0, left));
    left -= group.proposals.length;
    return { ...group, cards };
  });
  return begun.filter((group) => group.cards.length > 0);
}

/** Of the order before, what came after `gone` and is still there. */
function follower(before, order, gone) {
  const place = before.indexOf(gone);
  if (place < 0) return null;
  return before.slice(place + 1).find((id) => order.includes(id)) ?? before.slice(0, place).reverse().find((id) => order.includes(id)) ?? null;
}

function useKeys({ live, known, move, open, isOpen }) {
  // With the drawing itself, not after it: a key may be pressed the moment the cards stand.
  useLayoutEffect(() => {
    const press = (event) => {
      const field = event.target.closest?.('input, textarea, select, dialog');
      if (field || isOpen || document.querySelector('dialog[open]') || event.ctrlKey || event.metaKey || event.altKey) return;
      const { order, chosen } = live.current;
      const one = known.get(chosen);
      const free = one && order.includes(chosen) && !fates.value.has(chosen) && !mine.has(chosen);
      const key = named(event);
      const number = Number(key);
      // A key that is held down moves on, and decides once.
      if (event.repeat && key !== 'j' && key !== 'k') return;
      const act = {
        j: () => move(1),
        k: () => move(-1),
        z: undo,
        '?': () => open('help'),
        a: () => free && !one.choices.length && decide(one, 'approve'),
        x: () => free && decide(one, 'reject'),
        e: () => free && one.kind === 'summary' && open(one),
        p: () => free && one.kind === 'demotion' && decide(one, 'promote'),
      }[key];
      const choice = free && number >= 1 && one.choices[number - 1];
      if (!act && !choice) return;
      event.preventDefault();
      if (choice) decide(one, 'choose', { choice });
      else act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/** The letter on the key, also where an input method or another alphabet takes it. */
function named(event) {
  return event.key.length === 1 && event.key < '\x7f' ? event.key.toLowerCase() : event.code.replace(/^(Key|Digit)/, '').toLowerCase();
}

function Group({ group, chosen, onChoose, onEdit }) {
  const safe = group.proposals.filter((one) => SAFE.has(one.kind) && !one.elsewhere);
  const [busy, work] = useState(false);
  const kept = useKept();
  const all = async () => (work(true), await approveAll(safe), work(false));
  return html`<section class="group" aria-label=${nameOf(group.entity)}>
    <div class="between">
      <h2 dir="auto">${nameOf(group.entity)} <span class="soft">${t('proposal_count', group.proposals.length)}</span></h2>
      ${safe.length > 1 && html`<button disabled=${busy} onClick=${all}>${t('approve_safe', safe.length)}</button>`}
    </div>
    ${group.cards.map((one) => kept(one.id, [one, one.id === chosen], () => html`<${Proposal} key=${one.id} proposal=${one} isChosen=${one.id === chosen} onChoose=${onChoose} onEdit=${onEdit} />`))}
  </section>`;
}

function Nothing({ onTidy }) {
  const { data } = useFound((ended) => get('maintenance/status', { namespace: namespace.value }, ended), [namespace.value]);
  const others = (snapshot.value?.namespaces ?? []).filter((name) => name !== namespace.value && pendingIn(name) > 0);
  const plan = data?.schedule;
  const next = plan?.paused ? t('next_paused') : plan?.next_at ? t('next_run', dayAndTime(plan.next_at)) : t('next_none_here');
  return html`<${Empty} title=${t('nothing_waits')}>
    <p>${next}${plan?.waiting_for ? ` ${plan.waiting_for}` : ''}</p>
    ${data && !plan?.paused && !plan?.next_at && html`<p><button onClick=${onTidy}>${t('tidy')}</button></p>`}
    ${others.map((name) => html`<p key=${name}><button class="link" onClick=${() => pick(name)}>${t('waits_elsewhere', pendingIn(name), name)}</button></p>`)}
    ${data?.last && html`<p>${t('last_run', dayAndTime(data.last.ended_at ?? data.last.started_at))} ${data.last.report?.sentence ?? ''}</p>`}
  </${Empty}>`;
}

function Help({ onClose }) {
  const keys = [['j', 'key_j'], ['k', 'key_k'], ['a', 'key_a'], ['x', 'key_x'], ['e', 'key_e'], ['p', 'key_p'], ['1–9', 'key_number'], ['z', 'key_z'], ['?', 'key_help']];
  return html`<${Dialog} title=${t('keys')} onClose=${onClose}>
    <dl class="keylist">${keys.map(([key, name]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${t(name)}</dd></div>`)}</dl>
  </${Dialog}>`;
}
