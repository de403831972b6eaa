// Telling the memory something, or correcting a fact: the same, as a correction is said like anything else and supersedes what it corrects.

import { useState } from 'preact/hooks';
import { draftOf, keep, stop, write, writing } from './drafts.js';
import { forgetting } from './forgetting.js';
import { html } from './html.js';
import { t } from './language.js';
import { Dialog, Sorry, Writing } from './parts.js';
import { connection, post } from './service.js';
import { tell } from './toasts.js';

/** Open the form for a new sentence. */
export const tellSomething = (namespace) => write({ key: `new.${namespace}`, namespace, fact: null });

/** Open the form for another wording of a fact. */
export const correct = (fact) => write({ key: fact.id, namespace: fact.namespace, fact });

/** The form, whatever page is shown below it. */
export function Correcting() {
  const what = writing.value;
  return what && html`<${Form} key=${what.key} ...${what} />`;
}

function Form({ fact, namespace }) {
  const key = writing.value.key;
  const [text, put] = useState(draftOf(key) ?? fact?.fact_text ?? '');
  const [error, fail] = useState(null);
  const [busy, work] = useState(false);
  const change = (value) => (put(value), keep(key, value));
  const unchanged = !text.trim() || text.trim() === fact?.fact_text;
  const send = async () => {
    if (unchanged || busy) return;
    work(true);
    try {
      report(await post('add', { text: text.trim(), namespace: namespace || undefined, source: 'user' }), fact);
      stop(true);
    } catch (trouble) {
      fail(trouble);
      work(false);
    }
  };
  return html`<${Dialog} title=${t(fact ? 'correct_title' : 'tell_title')} onClose=${() => stop(unchanged)}>
    ${fact && html`<p class="soft">${t('correct_about')}</p><blockquote dir="auto">${fact.fact_text}</blockquote>`}
    <${Writing} label=${t(fact ? 'correct_label' : 'tell_label')} value=${text} onInput=${change} onSend=${send} hint=${t(fact ? 'correct_hint' : 'tell_hint')} />
    ${error && html`<${Sorry} error=${error} />`}
    ${connection.value === 'lost' && html`<p class="notice" role="status">${t('draft_kept')}</p>`}
    <div class="actions end">
      <button onClick=${() => stop(unchanged)}>${t('cancel')}</button>
      <button class="primary" disabled=${unchanged || busy} onClick=${send}>${t(fact ? 'correct_do' : 'tell_do')}</button>
    </div>
  </${Dialog}>`;
}

function report(added, fact) {
  if (added.queued) return tell(t('told_queued'));
  if (added.redacted.length) tell(t('told_redacted', added.redacted.length));
  if (fact && !added.superseded.includes(fact.id)) {
    return tell(t('corrected_beside'), { label: t('forget_old'), run: () => (forgetting.value = fact) });
  }
  if (added.fact_ids.length === 0 && added.existing.length) return tell(t('told_known'));
  if (added.withheld) return tell(t('told_withheld'));
  return tell(fact ? t('corrected') : t('told', added.fact_ids.length));
}
