// Bringing in what the person has elsewhere: sent piece by piece, looked at, and brought in once the person has seen what would come.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { html } from '../html.js';
import { day, named, number, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Dialog, Sorry } from '../parts.js';
import { namespace } from '../places.js';
import { call, get, post } from '../service.js';
import { complain, tell } from '../toasts.js';

const PIECE = 4_000_000;
const POLL = 500;
const SHOWN = 100;
const FATES = { plan: 'bring_in_would', done: 'bring_in_did', stopped: 'bring_in_stopped', failed: 'bring_in_came' };

export function BringIn() {
  const { data } = useFound((ended) => get('bring-in', {}, ended), []);
  const [open, put] = useState(null);
  const running = data?.jobs.find((one) => one.state === 'running');
  // What ended early is told of until something was brought in whole.
  const last = data?.jobs.find((one) => one.apply && one.state !== 'running');
  const early = last && last.state !== 'done' ? last : null;
  const chosen = (event) => {
    const files = [...event.target.files];
    event.target.value = '';
    if (files.length) put({ files });
  };
  return html`<section class="keeping" aria-label=${t('bring_in')}>
    <h2>${t('bring_in')}</h2><p class="soft small">${t('bring_in_about')}</p>
    <div class="actions"><${Chooser} name=${t('choose_file')} onChange=${chosen} /><${Chooser} name=${t('choose_folder')} folder onChange=${chosen} />
      ${running && !open && html`<button onClick=${() => put({ job: running })}>${t('bring_in_goes_on')}</button>`}</div>
    ${early && !running && html`<p class="notice between"><span class="break">${t(early.state === 'failed' ? 'bring_in_broke' : 'bring_in_ended')} ${whatOf(early)}</span><button onClick=${() => put({ job: early })}>${t('look')}</button></p>`}
    ${data?.older.map((path) => html`<p class="notice between" key=${path}><span class="break">${t('older_here')} <code>${path.split(/[\\/]/).pop()}</code></span><button onClick=${() => put({ path })}>${t('look')}</button></p>`)}
    ${open && html`<${Bringing} start=${open} onClose=${() => put(null)} />`}
  </section>`;
}

/** A button that opens the system's chooser of files. */
function Chooser({ name, folder, onChange }) {
  const id = useId();
  const input = useRef();
  useEffect(() => void (folder && (input.current.webkitdirectory = true)), []);
  return html`<input ref=${input} id=${id} class="hidden" type="file" tabindex="-1" aria-label=${name} onChange=${onChange} /><button onClick=${() => input.current.click()}>${name}</button>`;
}

function Bringing({ start, onClose }) {
  const [stage, put] = useState({ name: start.job ? 'working' : start.path ? 'looking' : 'sending', done: 0 });
  const [passphrase, type] = useState('');
  const gone = useRef(false);
  const source = useRef(sourceOf(start.job ?? start));
  // The older files name themselves where they belong; a job goes on where it began.
  const into = () => {
    const name = start.job ? start.job.namespace : start.path ? null : namespace.value;
    return name ? { namespace: name } : {};
  };
  const bundle = start.files?.length === 1 && start.files[0].name.endsWith('.leanmem');
  const show = (next) => gone.current || put(next);
  const tried = (work) => work().catch((error) => show({ name: 'failed', error }));
  const look = () => tried(async () => {
    show({ name: 'looking' });
    if (bundle) return show({ name: 'plan', plan: await post('import', { ...source.current, ...into(), ...secret(passphrase) }) });
    return follow(await post('bring-in', { ...source.current, ...into() }), show, gone);
  });
  const apply = () => tried(async () => {
    show({ name: 'working' });
    if (bundle) return show({ name: 'done', plan: await post('import', { ...source.current, ...into(), ...secret(passphrase), apply: true }) });
    return follow(await post('bring-in', { ...source.current, ...into(), apply: true }), show, gone);
  });
  useEffect(() => {
    tried(async () => {
      if (start.files) source.current = { upload: await sent(start.files, (done) => show({ name: 'sending', done }), gone) };
      if (start.job) await follow(start.job, show, gone);
      else if (!gone.current) await look();
    });
    return () => void (gone.current = true);
  }, []);
  const close = () => {
    gone.current = true;
    // What is being brought in goes on, and removes what was sent by itself; what ended early may be resumed.
    const resumable = stage.job?.apply && ['stopped', 'failed'].includes(stage.name);
    if (source.current.upload && stage.name !== 'working' && !resumable) call('DELETE', `uploads/${source.current.upload}`).catch(() => {});
    onClose();
  };
  const canApply = stage.name === 'plan' || (['stopped', 'failed'].includes(stage.name) && stage.job?.apply && (source.current.path || source.current.upload));
  const busy = ['sending', 'looking', 'working'].includes(stage.name);
  const stop = () => post(`bring-in/${stage.job.id}/cancel`, {}).catch(complain);
  return html`<${Dialog} title=${t('bring_in')} onClose=${close}>
    ${busy ? html`<${Progress} stage=${stage} />` : stage.name === 'failed' ? html`<${Sorry} error=${stage.error} />${stage.report && html`<${Report} stage=${stage} />`}` : stage.report ? html`<${Report} stage=${stage} />` : html`<${Plan} stage=${stage} />`}
    ${stage.name === 'failed' && bundle && html`<form class="inline" onSubmit=${(event) => (event.preventDefault(), look())}><label class="picker"><span>${t('passphrase')}</span><input type="password" autocomplete="off" value=${passphrase} onInput=${(event) => type(event.target.value)} /></label><button>${t('look')}</button></form>`}
    <div class="actions end">
      ${stage.name === 'working' && stage.job && html`<button onClick=${stop}>${t('tidy_stop')}</button>`}
      <button onClick=${close}>${t('close')}</button>
      ${canApply && html`<button class="primary" onClick=${apply}>${t(stage.name === 'plan' ? 'bring_in_do' : 'resume')}</button>`}
    </div>
  </${Dialog}>`;
}

const sourceOf = ({ path, upload }) => (path ? { path } : upload ? { upload } : {});
/** What a job brings in, as the person knows it: the file, or whose export it is. */
const whatOf = ({ path, report }) => (path ? html`<code dir="auto">${path.split(/[\\/]/).pop()}</code>` : report ? named(`kind_in_${report.kind.replace('-', '_')}`, report.kind) : '');
const secret = (passphrase) => (passphrase ? { passphrase } : {});

/** Send files piece by piece; gives the upload's id. A piece that did not arrive is an error that the person sees. */
async function sent(files, report, gone) {
  const all = files.reduce((sum, file) => sum + file.size, 0) || 1;
  const { id } = await post('uploads');
  let done = 0;
  for (const file of files) {
    for (let offset = 0; offset === 0 || offset < file.size; offset += PIECE) {
      if (gone.current) {
        await call('DELETE', `uploads/${id}`);
        return id;
      }
      const piece = file.slice(offset, offset + PIECE);
      await call('PUT', `uploads/${id}`, { query: { name: file.webkitRelativePath || file.name, offset, modified: file.lastModified }, body: piece });
      done += piece.size;
      report(done / all);
    }
  }
  return id;
}

async function follow(first, show, gone) {
  let job = first;
  while (job.state === 'running' && !gone.current) {
    show({ name: job.apply ? 'working' : 'looking', job, done: job.progress });
    await new Promise((go) => setTimeout(go, POLL));
    job = await get(`bring-in/${job.id}`);
  }
  if (job.state === 'failed') return show({ name: 'failed', error: new Error(job.sentence), report: job.report, job });
  show({ name: job.state === 'stopped' ? 'stopped' : job.apply ? 'done' : 'plan', report: job.report, job });
  if (job.apply && job.state === 'done' && !gone.current) tell(t('brought_in', number(job.report.added)));
}

function Progress({ stage }) {
  return html`<div role="status"><p>${t(`bringing_${stage.name}`)}</p><progress max="1" value=${stage.done ?? undefined} aria-label=${t(`bringing_${stage.name}`)}></progress></div>`;
}

function Report({ stage }) {
  const { report, name } = stage;
  return html`<div role="status">
    <p><strong>${t(FATES[name])}</strong> ${named(`kind_in_${report.kind.replace('-', '_')}`, report.kind)}</p>
    <ul class="plain">
      ${report.reached && html`<li dir="auto">${t('bring_in_reached', report.reached)}</li>`}
      <li>${t('bring_in_new', number(report.added), number(report.texts))}</li>
      ${report.namespaces.length > 0 && html`<li dir="auto">${t('bring_in_into', report.namespaces.map((one) => `“${one}”`).join(', '))}</li>`}
      ${report.known > 0 && html`<li>${t('bring_in_known', number(report.known))}</li>`}
      ${report.facts > 0 && html`<li>${t('bring_in_facts', number(report.facts))}</li>`}
      ${report.since !== null && html`<li>${t('from_to', day(report.since), day(report.until))}</li>`}
      ${report.forgotten > 0 && html`<li>${t('bring_in_forgotten', report.forgotten)}</li>`}
      ${report.redacted.length > 0 && html`<li>${t('told_redacted', report.redacted.length)}</li>`}
      ${report.left_out.map((one) => html`<li key=${one.reason}>${t('left_out', number(one.count))} ${one.reason}</li>`)}
      ${report.conflicts.length > 0 && html`<li>${t('import_conflict', report.conflicts.length)}</li>`}
      ${report.notes.map((note) => html`<li key=${note}>${note}</li>`)}
    </ul>
    ${name === 'plan' && report.samples.length > 0 && html`<ul class="erased">${report.samples.map((text, at) => html`<li key=${at} dir="auto">${text}</li>`)}</ul>`}
  </div>`;
}

/** What the import of a bundle would do, or did: new, gone on from, and where both sides went on differently. */
function Plan({ stage: { plan, name } }) {
  const of = (fate) => plan.parts.filter((one) => one.fate === fate);
  return html`<div role="status">
    <p><strong>${t(name === 'done' ? 'bring_in_did' : 'bring_in_would')}</strong> ${t('import_counts', number(plan.episodes), number(plan.same))} <span dir="auto">${t('bring_in_into', `“${plan.namespace}”`)}</span></p>
    ${['add', 'change', 'conflict'].filter((fate) => of(fate).length > 0).map((fate) => html`<div key=${fate}><p>${t(`import_${fate}`, of(fate).length)}</p>
      <ul class="erased" tabindex="0" aria-label=${t(`import_${fate}`, of(fate).length)}>${of(fate).slice(0, SHOWN).map((one, at) => html`<li key=${at}><span dir="auto">${one.there.join(' · ') || `${one.subject} ${one.predicate}`}</span>${one.here.length > 0 && html`<p class="soft small" dir="auto">${t('import_here')} ${one.here.join(' · ')}</p>`}</li>`)}</ul></div>`)}
    ${plan.forgotten > 0 && html`<p>${t('bring_in_forgotten', plan.forgotten)}</p>`}
    ${plan.notes.map((note) => html`<p class="soft small" key=${note}>${note}</p>`)}
  </div>`;
}
