// The two forms of the review: a summary in the person's own words, and a run of maintenance.

import { useEffect, useRef, useState } from 'preact/hooks';
import { decide } from '../decisions.js';
import { draftOf, drop, keep } from '../drafts.js';
import { html } from '../html.js';
import { named, t } from '../language.js';
import { Dialog, Sorry, Writing } from '../parts.js';
import { namespace } from '../places.js';
import { get, post } from '../service.js';

const POLL = 400;

export function Rewriting({ proposal, onClose }) {
  const key = `review.${proposal.id}`;
  const [text, put] = useState(draftOf(key) ?? proposal.text);
  const send = async () => {
    if (text.trim() && (await decide(proposal, 'edit', { edited_text: text.trim() }))) drop(key);
    onClose();
  };
  return html`<${Dialog} title=${t('edit_approve')} onClose=${onClose}>
    <${Writing} label=${t('edit_label')} rows=${5} value=${text} onInput=${(value) => (put(value), keep(key, value))} onSend=${send} />
    <ul class="sources">${proposal.facts.map((one) => html`<li key=${one.id} dir="auto">${one.fact_text}</li>`)}</ul>
    <div class="actions end"><button onClick=${onClose}>${t('cancel')}</button><button class="primary" disabled=${!text.trim()} onClick=${send}>${t('approve_edited')}</button></div>
  </${Dialog}>`;
}

/** A dry run at once; applying it is a second step. */
export function Tidying({ onClose }) {
  const [job, put] = useState(null);
  const [failed, fail] = useState(null);
  const gone = useRef(false);
  const run = async (apply) => {
    fail(null);
    try {
      let state = await post('maintenance/run', { namespace: namespace.value || undefined, apply, force: true, wait: 0 });
      put(state);
      while (state.state === 'running' && !gone.current) {
        await new Promise((go) => setTimeout(go, POLL));
        state = await get(`maintenance/jobs/${state.id}`);
        if (!gone.current) put(state);
      }
    } catch (error) {
      if (!gone.current) fail(error);
    }
  };
  useEffect(() => {
    run(false);
    return () => void (gone.current = true);
  }, []);
  const running = job === null || job.state === 'running';
  const cancel = () => post('maintenance/cancel', { namespace: namespace.value || undefined }).catch(fail);
  return html`<${Dialog} title=${t('tidy_title')} onClose=${onClose}>
    <p class="soft">${t('tidy_about')}</p>
    ${failed ? html`<${Sorry} error=${failed} />` : running ? html`<${Progress} job=${job} />` : html`<${Report} job=${job} />`}
    <div class="actions end">
      ${running && job && !job.dry_run && html`<button onClick=${cancel}>${t('tidy_stop')}</button>`}
      <button onClick=${onClose}>${t('close')}</button>
      ${!running && !failed && job.dry_run && job.state === 'done' && html`<button class="primary" onClick=${() => run(true)}>${t('tidy_apply')}</button>`}
    </div>
  </${Dialog}>`;
}

function Progress({ job }) {
  return html`<div role="status"><p>${t(job?.dry_run === false ? 'tidy_running' : 'tidy_looking')}</p><progress max="1" value=${job?.progress ?? undefined} aria-label=${t('tidy_title')}></progress></div>`;
}

function Report({ job }) {
  const one = job.reports[0];
  return html`<div role="status">
    <p><strong>${t(job.dry_run ? 'tidy_would' : 'tidy_did')}</strong></p>
    ${one ? html`<ul class="plain">
      <li>${t('tidy_facts', one.facts)}</li><li>${t('tidy_merged', one.merged)}</li><li>${t('tidy_demoted', one.demoted)}</li>
      ${Object.entries(one.proposed).map(([kind, count]) => html`<li key=${kind}>${t('tidy_proposed', named(`kind_${kind}`, kind), count)}</li>`)}
      ${one.held_back > 0 && html`<li>${t('tidy_held_back', one.held_back)}</li>`}
    </ul>` : null}
    <p class="soft">${one?.sentence ?? job.sentence}</p>
  </div>`;
}
