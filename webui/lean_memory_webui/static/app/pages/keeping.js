// Your data: copies of everything, taking it out, bringing it in, how long it is kept, and having it forgotten.

import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { dayAndTime, named, number, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Choice, Dialog, Head, Namespaces, Sorry, Waiting } from '../parts.js';
import { namespace, pick } from '../places.js';
import { get, post, send } from '../service.js';
import { complain, tell } from '../toasts.js';
import { BringIn } from './bringing.js';
import { LetGo, Rules } from './letting_go.js';

const FEW = 4;

export function Keeping() {
  return html`
    <${Head} title=${t('keeping')} about=${t('keeping_about')}><${Namespaces} value=${namespace.value} onChoose=${pick} /></${Head}>
    <${Backups} />
    <${TakeOut} key=${`out ${namespace.value}`} />
    <${BringIn} />
    <${Rules} key=${`rules ${namespace.value}`} />
    <${LetGo} key=${`gone ${namespace.value}`} />
    <p class="soft small back"><a href="#/settings">${t('settings')}</a></p>`;
}

function Backups() {
  const { data, error } = useFound((ended) => get('backups', {}, ended), []);
  const [busy, work] = useState(false);
  const [chosen, choose] = useState(null);
  const make = async () => {
    work(true);
    try {
      const made = await post('backup', {});
      tell(made.left_out.length ? made.left_out.join(' ') : t('backup_made', size(made.bytes)));
    } catch (trouble) {
      complain(trouble);
    }
    work(false);
  };
  const row = (one) => html`<${Backup} key=${one.path} backup=${one} onRestore=${() => choose(one)} />`;
  return html`<section class="keeping" aria-label=${t('backups')}>
    <div class="between"><h2>${t('backups')}</h2><button disabled=${busy} onClick=${make}>${t(busy ? 'backup_making' : 'backup_make')}</button></div>
    <p class="soft small">${t('backups_about')}</p>
    ${error ? html`<${Sorry} error=${error} />` : !data ? html`<${Waiting} />` : data.backups.length === 0 ? html`<p class="soft">${t('backups_none')}</p>` : html`
      <ul class="rows">${data.backups.slice(0, FEW).map(row)}</ul>
      ${data.backups.length > FEW && html`<details class="away"><summary>${t('backups_more', data.backups.length - FEW)}</summary><ul class="rows">${data.backups.slice(FEW).map(row)}</ul></details>`}`}
    ${chosen && html`<${Restoring} backup=${chosen} onClose=${() => choose(null)} />`}
  </section>`;
}

const nameOfBackup = (backup) => backup.path.split(/[\\/]/).pop();

function Backup({ backup, onRestore }) {
  const [said, put] = useState('');
  const when = dayAndTime(backup.at);
  const verify = async () => {
    put(t('loading'));
    try {
      put((await post('backups/verify', { backup: nameOfBackup(backup) })).problem || t('backup_sound'));
    } catch (trouble) {
      put(trouble.message || t('unreachable'));
    }
  };
  return html`<li class="item"><div><span>${when}</span> <span class="soft small">${[named(`occasion_${backup.occasion.replace('-', '_')}`, backup.occasion), size(backup.bytes)].filter(Boolean).join(' · ')}</span>
      ${backup.problem && html`<p class="small">${backup.problem}</p>`}<p role="status" class=${said ? 'small' : 'hidden'}>${said}</p></div>
    <div class="actions"><button onClick=${verify}>${t('backup_verify')}<span class="hidden"> ${when}</span></button>
      <button disabled=${Boolean(backup.problem)} onClick=${onRestore}>${t('restore')}<span class="hidden"> ${when}</span></button></div></li>`;
}

/** First what would come in the place of what, after the backup was read whole; then the question; then the deed. */
function Restoring({ backup, onClose }) {
  const asked = { backup: nameOfBackup(backup) };
  const { data, error } = useFound((ended) => post('restore/preview', asked, ended), [backup.path]);
  const [busy, work] = useState(false);
  const [failed, fail] = useState(null);
  const restore = async () => {
    work(true);
    try {
      const { restored } = await post('restore', { ...asked, confirmed: true });
      const scrubbed = restored.reduce((sum, one) => sum + one.scrubbed, 0);
      tell(t('restored') + (scrubbed ? ` ${t('restored_scrubbed', scrubbed)}` : ''));
      onClose();
    } catch (trouble) {
      fail(trouble);
      work(false);
    }
  };
  return html`<${Dialog} title=${t('restore_title')} onClose=${onClose}>
    ${failed || error ? html`<${Sorry} error=${failed ?? error} />` : !data ? html`<${Waiting} />` : html`<p>${t('restore_what', dayAndTime(backup.at))}</p>
      <ul class="erased">${data.namespaces.map((one) => html`<li key=${one.name}><strong dir="auto">${one.name}</strong> <span>${t('restore_counts', number(one.facts), number(one.here_facts))}</span></li>`)}</ul>`}
    <p class="soft small">${t('restore_about')}</p>
    <div class="actions end"><button autofocus onClick=${onClose}>${t('leave_it')}</button><button class="danger" disabled=${busy || !data || Boolean(failed)} onClick=${restore}>${t('restore_do')}</button></div>
  </${Dialog}>`;
}

function TakeOut() {
  const [form, choose] = useState('leanmem');
  const [passphrase, put] = useState('');
  const [busy, work] = useState(false);
  const download = async () => {
    work(true);
    try {
      const sealed = form === 'leanmem' && passphrase ? { passphrase } : {};
      const answer = await send('POST', 'export/download', { body: { namespace: namespace.value, form, ...sealed } });
      offer(await answer.blob(), `${namespace.value}-${new Date().toISOString().slice(0, 10)}.${form}`);
      put('');
    } catch (trouble) {
      complain(trouble);
    }
    work(false);
  };
  return html`<section class="keeping" aria-label=${t('take_out')}>
    <h2>${t('take_out')}</h2><p class="soft small">${t(`take_out_${form}`)}</p>
    <div class="inline"><${Choice} label=${t('take_out_as')} value=${form} onChoose=${choose} options=${[['leanmem', t('form_leanmem')], ['md', t('form_md')]]} />
      ${form === 'leanmem' && html`<label class="picker"><span class="soft">${t('passphrase_maybe')}</span><input type="password" autocomplete="new-password" value=${passphrase} onInput=${(event) => put(event.target.value)} /></label>`}
      <button disabled=${busy || !namespace.value} onClick=${download}>${t('take_out_do')}</button></div>
  </section>`;
}

function offer(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[\\/:*?"<>|]/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
