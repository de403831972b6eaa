// The person's verdicts on proposals, and taking them back.

import { signal } from '@preact/signals';
import { t } from './language.js';
import { post } from './service.js';
import { complain, tell } from './toasts.js';

const BATCH = 64;

/** Sets of decisions that can be taken back, the last one at the end: `[{id, namespace}]` each. */
const done = signal([]);
/** What came of decisions that were not carried out, by proposal: `{outcome, sentence}`; shown in place of the proposal. */
export const fates = signal(new Map());
/** What this page decided itself, so that it is not told as decided elsewhere. */
export const mine = new Set();

/** Record one verdict; whether it was carried out. */
export async function decide(proposal, decision, extra = {}) {
  mine.add(proposal.id);
  try {
    const asked = { decision, namespace: proposal.namespace, revision: proposal.revision, ...extra };
    const came = await post(`review/${encodeURIComponent(proposal.id)}/decide`, asked);
    if (came.outcome !== 'settled') return miss(proposal, came), false;
    remember([proposal], t(`decided_${decision}`));
    return true;
  } catch (error) {
    mine.delete(proposal.id);
    // What it spoke of was erased meanwhile, and the proposal with it.
    if (error.status === 404) miss(proposal, { outcome: 'stale', sentence: error.message });
    else complain(error);
    return false;
  }
}

/** Approve several at once; what could not be carried out is told in place. */
export async function approveAll(proposals) {
  const settled = [];
  try {
    for (let at = 0; at < proposals.length; at += BATCH) {
      const part = proposals.slice(at, at + BATCH);
      part.forEach((one) => mine.add(one.id));
      const items = part.map((one) => ({ id: one.id, decision: 'approve', revision: one.revision }));
      const { results } = await post('review/decide', { items, namespace: part[0].namespace });
      results.forEach((came, index) => (came.outcome === 'settled' ? settled.push(part[index]) : miss(part[index], came)));
    }
  } catch (error) {
    complain(error);
  }
  if (settled.length) remember(settled, t('approved_many', settled.length));
}

/** Take back what was decided last on this page. */
export async function undo() {
  const last = done.value.at(-1);
  if (!last) return tell(t('nothing_to_undo'));
  done.value = done.value.slice(0, -1);
  if (last.length === 1) return takeBack(last[0].namespace, last[0].id);
  try {
    for (const one of last) await revert(one.namespace, one.id);
    tell(t('undone_many', last.length));
  } catch (error) {
    complain(error);
  }
}

/** Take back a decision or a run by its id. */
export async function takeBack(namespace, id) {
  try {
    tell((await revert(namespace, id)).sentence || t('undone'));
  } catch (error) {
    complain(error);
  }
}

async function revert(namespace, id) {
  const came = await post('revert', { id, namespace });
  mine.delete(id);
  return came;
}

export function dismiss(id) {
  const left = new Map(fates.value);
  left.delete(id);
  fates.value = left;
}

function miss(proposal, came) {
  fates.value = new Map(fates.value).set(proposal.id, came);
}

function remember(proposals, sentence) {
  done.value = [...done.value.slice(-49), proposals.map(({ id, namespace }) => ({ id, namespace }))];
  tell(sentence, { label: t('undo'), run: undo });
}
