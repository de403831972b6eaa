// What the person decides once: language, looks, the nightly run, and where the data is.

import { html } from '../html.js';
import { choose, chosen, dayAndTime, number, size, t } from '../language.js';
import { useFound } from '../loading.js';
import { Choice, Head, Sorry, Switch, Waiting } from '../parts.js';
import { call, get, leave, snapshot } from '../service.js';
import { theme, wear } from '../theme.js';
import { complain, tell } from '../toasts.js';

export function Settings() {
  const { data, error } = useFound((ended) => get('status', {}, ended), []);
  return html`
    <${Head} title=${t('settings')} />
    <${Setting} name=${t('language')}><${Choice} label=${t('language')} value=${chosen.value} onChoose=${choose} options=${[['', t('system')], ['en', 'English'], ['zh', '中文']]} /></${Setting}>
    <${Setting} name=${t('looks')}><${Choice} label=${t('looks')} value=${theme.value} onChoose=${wear} options=${[['', t('system')], ['light', t('light')], ['dark', t('dark')]]} /></${Setting}>
    <${Nightly} />
    <${AtLogin} />
    <${Setting} name=${t('data_folder')} about=${t('data_folder_about')}>
      ${error ? html`<${Sorry} error=${error} />` : !data ? html`<${Waiting} />` : html`<div><p class="break"><code>${data.root}</code></p>
        <p class="soft small">${t('data_sizes', number(data.namespaces.length), size(data.namespaces.reduce((sum, one) => sum + one.bytes, 0)))}</p></div>`}
    </${Setting}>
    <${Setting} name=${t('keeping')} about=${t('keeping_open')}><a href="#/keeping">${t('keeping_go')}</a></${Setting}>
    <${Setting} name=${t('this_browser')} about=${t('this_browser_about')}><button onClick=${() => leave().catch(complain)}>${t('leave')}</button></${Setting}>
    <p class="soft small">Lean Memory ${snapshot.value.service_version} · <a href="/static/vendor/vendored.toml">${t('licences')}</a> · <a href="#/welcome">${t('welcome_again')}</a></p>`;
}

function Setting({ name, about, children }) {
  return html`<section class="setting" aria-label=${name}><div><h2>${name}</h2>${about && html`<p class="soft small">${about}</p>`}</div><div>${children}</div></section>`;
}

function AtLogin() {
  const { data } = useFound((ended) => get('at-login', {}, ended), []);
  if (!data?.available) return null;
  const change = (on) => call('PATCH', 'at-login', { body: { on } }).then(() => tell(t('saved')), complain);
  return html`<${Setting} name=${t('at_login')} about=${t('at_login_about')}><${Switch} on=${data.on} label=${t('at_login')} onChange=${change} /></${Setting}>`;
}

function Nightly() {
  const { data, error } = useFound((ended) => get('maintenance/schedule', {}, ended), []);
  if (error) return error.status === 404 ? null : html`<${Sorry} error=${error} />`;
  if (!data) return html`<${Waiting} />`;
  const change = (what) => call('PATCH', 'maintenance/schedule', { body: what }).then(() => tell(t('saved')), complain);
  const next = data.paused ? t('next_paused') : data.next_at ? t('next_run', dayAndTime(data.next_at)) : t('next_none');
  return html`
    <${Setting} name=${t('nightly')} about=${`${t('nightly_about')} ${next}`}>
      <div class="inline"><${Switch} on=${!data.paused} label=${t('nightly')} onChange=${(on) => change({ paused: !on })} />
      <label class="picker"><span class="soft">${t('nightly_at')}</span><input type="time" value=${data.at} onChange=${(event) => event.target.value && change({ at: event.target.value })} /></label></div>
      ${data.problem && html`<p class="notice">${data.problem}</p>`}
    </${Setting}>
    <${Setting} name=${t('agents_decide')} about=${t('agents_decide_about')}><${Switch} on=${data.agents_decide} label=${t('agents_decide')} onChange=${(on) => change({ agents_decide: on })} /></${Setting}>`;
}
