// One proposal: what it would change, why, and the buttons for it.

import { useEffect, useRef } from 'preact/hooks';
import { decide, dismiss, fates } from '../decisions.js';
import { span } from '../history.js';
import { html } from '../html.js';
import { dayAndTime, named, percent, t } from '../language.js';
import { useFound } from '../loading.js';
import { Score } from '../parts.js';
import { get } from '../service.js';
import { Marked } from '../words_apart.js';

/** The name under which the person's own programs speak. */
const OWNER = 'lean-memory';

export function Proposal({ proposal, isChosen, onChoose, onEdit }) {
  const card = useRef();
  useEffect(() => void (isChosen && card.current.scrollIntoView({ block: 'nearest' })), [isChosen]);
  const fate = fates.value.get(proposal.id);
  const take = () => isChosen || onChoose(proposal.id);
  return html`<article ref=${card} id=${`p-${proposal.id}`} tabindex="-1" class=${isChosen ? 'card chosen' : 'card'} aria-current=${isChosen ? 'true' : null} onClick=${take} onFocusIn=${take}>
    <div class="between"><span class=${`pill ${proposal.kind}`}>${named(`kind_${proposal.kind}`, proposal.kind)}</span>
      ${proposal.cosine !== null && html`<span class="soft small">${t('alike', percent(proposal.cosine))}</span>`}</div>
    <${Change} proposal=${proposal} isChosen=${isChosen} />
    ${proposal.elsewhere || fate ? html`<${Fate} proposal=${proposal} fate=${fate} />` : isChosen ? html`<${Evidence} proposal=${proposal} /><${Verdicts} proposal=${proposal} onEdit=${onEdit} />` : null}
  </article>`;
}

function Change({ proposal, isChosen }) {
  const [first, ...others] = proposal.facts;
  switch (proposal.kind) {
    case 'merge':
      return html`<dl class="change">
        <dt>${t('stays')}</dt><dd class="said"><${Marked} text=${first?.fact_text ?? ''} other=${others[0]?.fact_text ?? ''} as="ins" /></dd>
        ${others.map((one) => html`<dt key=${one.id}>${t('goes')}</dt><dd key=${one.id + 'd'} class="said"><${Marked} text=${one.fact_text} other=${first.fact_text} as="del" /></dd>`)}
      </dl>`;
    case 'summary':
      return html`<div class=${isChosen ? 'beside' : ''}>
        <p class="said" dir="auto">${proposal.text}</p>
        ${isChosen && html`<ul class="sources">${proposal.facts.map((one) => html`<li key=${one.id} dir="auto">${one.fact_text}</li>`)}</ul>`}
      </div>
      ${isChosen && proposal.lost.length > 0 && html`<p class="small"><strong>${t('lost_detail')}</strong> <span dir="auto">${proposal.lost.join('; ')}</span></p>`}`;
    case 'same_entity':
      return html`<p class="said">${t('same_entity', proposal.entity, proposal.text)}</p>`;
    default:
      return html`<ul class="plain">${proposal.facts.map((one) => html`<li key=${one.id}><span class="said" dir="auto">${one.fact_text}</span> <span class="soft small">${span(one)}</span></li>`)}</ul>`;
  }
}

function Evidence({ proposal }) {
  // How alike they are stands at the head of the card.
  const scores = Object.entries(proposal.scores).filter(([name]) => name !== 'cosine' || proposal.cosine === null);
  // What putting together does is seen in the card itself; its reason is one click away.
  const told = proposal.kind === 'merge';
  return html`<div class="evidence">
    ${!told && html`<p class="soft">${proposal.reason}</p>`}
    <details><summary>${t('evidence')}</summary>
    ${told && html`<p class="soft">${proposal.reason}</p>`}
    <${Sources} facts=${proposal.facts} />
    ${scores.length > 0 && html`<div class="scores">${scores.map(([name, value]) => html`<${Score} key=${name} name=${named(`score_${name}`, name.replaceAll('_', ' '))} value=${value} />`)}</div>`}
    </details>
    ${proposal.effects.length > 0 && html`<details><summary>${t('effects', proposal.effects.length)}</summary>
      ${proposal.effects.map((effect) => html`<div key=${effect.query} class="effect"><p dir="auto"><strong>${effect.query}</strong></p>
        <div class="two"><${Hits} name=${t('before')} texts=${effect.before} /><${Hits} name=${t('after')} texts=${effect.after} /></div></div>`)}
    </details>`}
  </div>`;
}

function Hits({ name, texts }) {
  return html`<div><p class="soft small">${name}</p><ol>${texts.map((text, at) => html`<li key=${at} dir="auto">${text}</li>`)}</ol></div>`;
}

function Sources({ facts }) {
  const few = facts.slice(0, 6);
  const ask = (ended) => Promise.all(few.map((one) => get('explain', { namespace: one.namespace, fact_id: one.id }, ended).catch(() => null)));
  const { data } = useFound(ask, few.map((one) => one.id));
  const found = (data ?? []).filter((one) => one?.source_text);
  if (found.length === 0) return null;
  return html`<div>${found.map((one) => html`<blockquote key=${one.fact.id} dir="auto">${one.source_text}<footer class="soft small">${t('said_to', one.client === OWNER ? '' : one.client, dayAndTime(one.said_at))}</footer></blockquote>`)}</div>`;
}

function Verdicts({ proposal, onEdit }) {
  const act = (decision, extra) => () => decide(proposal, decision, extra);
  const label = (choice) => proposal.facts.find((one) => one.id === choice)?.fact_text ?? named(`choice_${choice}`, choice);
  const means = named(`means_${proposal.kind}`, t('can_undo'));
  return html`<div class="actions">
    ${proposal.choices.length > 0
      ? proposal.choices.map((choice, at) => html`<button key=${choice} dir="auto" onClick=${act('choose', { choice })}>${label(choice)}${at < 9 && html`<kbd aria-hidden="true">${at + 1}</kbd>`}</button>`)
      : html`<button class=${proposal.kind === 'forget' ? 'danger' : 'primary'} onClick=${act('approve')}>${named(`approve_${proposal.kind}`, t('approve'))}<kbd aria-hidden="true">A</kbd></button>`}
    ${proposal.kind === 'summary' && html`<button onClick=${() => onEdit(proposal)}>${t('edit_approve')}<kbd aria-hidden="true">E</kbd></button>`}
    <button onClick=${act('reject')}>${named(`reject_${proposal.kind}`, t('reject'))}<kbd aria-hidden="true">X</kbd></button>
    ${proposal.kind === 'demotion' && html`<button onClick=${act('promote')}>${t('promote')}<kbd aria-hidden="true">P</kbd></button>`}
  </div>
  <p class="soft small means">${means}</p>`;
}

/** What became of a proposal that this page did not decide, or could not. */
function Fate({ proposal, fate }) {
  const { data } = useFound((ended) => (fate ? Promise.resolve(null) : get(`review/${encodeURIComponent(proposal.id)}`, { namespace: proposal.namespace }, ended)), [proposal.id]);
  const sentence = fate ? (fate.sentence || t(`outcome_${fate.outcome}`)) : data ? t('decided_elsewhere', named(`state_${data.state}`, data.state)) : t('loading');
  return html`<div class="notice" role="status"><span>${sentence}</span>${fate && html` <button class="link" onClick=${() => dismiss(proposal.id)}>${t('seen')}</button>`}</div>`;
}
